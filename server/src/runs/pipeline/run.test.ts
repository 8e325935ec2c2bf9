import { describe, expect, it } from 'vitest';
import { collectingGarbage } from '../../testing/index.js';
import { AgentContact } from '../agents/contact.js';
import type { Checked } from './check.js';
import type { OutputGate } from '../delivery/output-gate.js';
import type { Task } from '../task.js';
import { run } from './run.js';
import { RunStoppedError } from '../live/run-stopped.js';

const logger = { info: () => undefined, warn: () => undefined };
const checked = { agent: { mode: 'connected' } } as unknown as Checked;
const gate = { push: () => undefined, hasLeft: false } as unknown as OutputGate;

/** An endpoint that never answers: a run ends with its signal alone. */
function depsWith(timeUp: AbortSignal): Parameters<typeof run>[0] {
  return {
    stepTimes: () => undefined,
    drain: { timeUp },
    contacts: { unreachable: async () => undefined, failed: async () => undefined },
    declarative: { run: () => Promise.reject(new Error('not asked')) },
    connected: {
      run: (_task, _agent, { signal }) =>
        new Promise((_resolve, reject) => {
          if (signal.aborted) reject(signal.reason as Error);
          signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
        }),
    },
  };
}

const begin = (timeoutSeconds: number, stop: AbortSignal, timeUp = new AbortController().signal) =>
  run(
    depsWith(timeUp),
    { timeoutSeconds, listing: { version: { timeoutSeconds } } } as Task,
    checked,
    { gate, contact: new AgentContact() },
    { stop, began: () => undefined, logger },
  );

describe('a run', () => {
  it('ends at its time limit although garbage is collected [EXE-47]', async () => {
    const stop = new AbortController();
    const outcomes = await collectingGarbage(() =>
      Promise.all(Array.from({ length: 20 }, () => begin(0.1, stop.signal))),
    );
    expect(outcomes).toHaveLength(20);
    for (const outcome of outcomes) {
      expect(outcome).toEqual({
        status: 'failed',
        output: 'The agent did not finish within 0.1 s.',
        cause: { class: 'timed_out' },
      });
    }
  });

  it('says what stopped it', async () => {
    const stopped = new RunStoppedError('cancelled', 'run-1');
    expect(await begin(60, AbortSignal.abort(stopped))).toEqual({
      status: 'failed',
      output: stopped.output,
      cause: { class: 'stopped' },
    });
  });

  it('is handed over when the server has no more time for it', async () => {
    const timeUp = AbortSignal.abort(new Error('The server is stopping.'));
    await expect(begin(60, new AbortController().signal, timeUp)).rejects.toThrow('stopping');
  });
});
