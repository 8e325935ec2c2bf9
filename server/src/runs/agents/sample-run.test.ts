import { SandboxFaultError, type Sandbox } from '@agent-rental/sandbox';
import { describe, expect, it } from 'vitest';
import type { DeclarativeAgent } from '../../registration/index.js';
import { collectingGarbage } from '../../testing/index.js';
import type { DeclarativeAgents } from './declarative-agent.js';
import { createSampleRun } from './sample-run.js';

const AGENT: DeclarativeAgent = {
  mode: 'declarative',
  systemPrompt: 'You answer.',
  tools: [],
  model: { provider: 'openai', model: 'm', key: 'k' },
  salt: '',
};
const REQUEST = {
  listingId: 'a-aaaaaa',
  task: 'x',
  input: 'x',
  outputSchema: {},
  timeoutMs: 100,
  readsWeb: false,
};

/** Agents whose model never answers; a run ends with its signal alone. */
const silent: DeclarativeAgents = {
  run: (_work, _agent, _sandbox, { signal }) =>
    new Promise((_resolve, reject) => {
      if (signal.aborted) reject(signal.reason as Error);
      signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
    }),
};

/** Agents whose sandbox is lost when their time is up. */
const losing: DeclarativeAgents = {
  ...silent,
  run: (work, agent, sandbox, options) =>
    silent.run(work, agent, sandbox, options).catch(() => {
      throw new SandboxFaultError('lost');
    }),
};

function reviews(declarative = silent) {
  const stopping = new AbortController();
  const runners = { take: () => Promise.resolve({} as Sandbox) };
  const connected = { run: () => Promise.reject(new Error('not called')) };
  const options = { stopping: stopping.signal, logger: { info: () => undefined } };
  return { stopping, review: createSampleRun({ declarative, connected, runners }, options) };
}

describe('a run for a review', () => {
  it('ends in its time although garbage is collected [EXE-47]', async () => {
    const { review } = reviews();
    const made = await collectingGarbage(() =>
      Promise.all(Array.from({ length: 20 }, () => review(AGENT, REQUEST))),
    );
    expect(made).toHaveLength(20);
    for (const one of made) {
      const problem = 'The agent did not finish within 0.1 s.';
      expect(one).toEqual({ problem, failure: { reason: 'timed_out' } });
    }
  });

  it('whose sandbox was lost says nothing of the agent, and is made again', async () => {
    await expect(reviews(losing).review(AGENT, REQUEST)).rejects.toThrow(SandboxFaultError);
  });

  it('ends with the server, to be made again', async () => {
    const { stopping, review } = reviews();
    const making = review(AGENT, { ...REQUEST, timeoutMs: 60_000 });
    stopping.abort(new Error('The server is stopping.'));
    await expect(making).rejects.toThrow('stopping');
  });
});
