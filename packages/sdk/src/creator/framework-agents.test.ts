import { AIMessage } from '@langchain/core/messages';
import { FakeListChatModel } from '@langchain/core/utils/testing';
import { Output, simulateReadableStream, ToolLoopAgent } from 'ai';
import { MockLanguageModelV3 } from 'ai/test';
import { createAgent, fakeModel } from 'langchain';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import * as z from 'zod';
import type { AgentFunction, AgentTask, AnswerPieces } from './agent-task.js';
import { aiSdkAgent } from './ai-sdk-agent.js';
import { langChainAgent } from './langchain-agent.js';

const TASK: AgentTask = {
  run_id: 'run',
  agent_id: 'agent',
  task: 'Say it.',
  input: { word: 'ü' },
  timeout_seconds: 60,
};
const PROMPT = 'Say it.\n\n<input>\n{\n  "word": "ü"\n}\n</input>';

/** Runs an agent's function to its end. */
async function run(agent: AgentFunction, signal = new AbortController().signal) {
  const iterator = ((await agent(TASK, { signal })) as AnswerPieces)[Symbol.asyncIterator]();
  const pieces: string[] = [];
  for (;;) {
    const { done, value } = (await iterator.next()) as IteratorResult<string, unknown>;
    if (done) return { pieces, returned: value };
    pieces.push(value);
  }
}

/** A model of the AI SDK that writes these pieces and remembers its requests. */
function writingModel(pieces: readonly string[], asked: unknown[] = []): MockLanguageModelV3 {
  return new MockLanguageModelV3({
    doStream: async ({ prompt }) => {
      asked.push(prompt);
      return {
        stream: simulateReadableStream({
          chunks: [
            { type: 'text-start', id: '1' } as const,
            ...pieces.map((delta) => ({ type: 'text-delta', id: '1', delta }) as const),
            { type: 'text-end', id: '1' } as const,
            {
              type: 'finish',
              finishReason: { unified: 'stop', raw: undefined },
              usage: {
                inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
                outputTokens: { total: 1, text: 1, reasoning: 0 },
              },
            } as const,
          ],
        }),
      };
    },
  });
}

describe('an agent of the AI SDK', () => {
  it('streams its text, and is asked with task and input [SDK-10]', async () => {
    const asked: unknown[] = [];
    const agent = new ToolLoopAgent({ model: writingModel(['a', 'b'], asked) });
    expect(await run(aiSdkAgent(agent))).toEqual({ pieces: ['a', 'b'], returned: undefined });
    expect(JSON.stringify(asked)).toContain(JSON.stringify(PROMPT).slice(1, -1));
  });

  it('returns its structured output', async () => {
    const agent = new ToolLoopAgent({
      model: writingModel(['{"word":', '"ü"}']),
      output: Output.object({ schema: z.object({ word: z.string() }) }),
    });
    expect((await run(aiSdkAgent(agent))).returned).toEqual({ word: 'ü' });
  });

  it('fails if its model fails or its run was cancelled', async () => {
    const failing = new MockLanguageModelV3({ doStream: () => Promise.reject(new Error('no model')) });
    const agent = new ToolLoopAgent({ model: failing, maxRetries: 0 });
    // The AI SDK prints errors of a stream.
    const printed = vi.spyOn(console, 'error').mockImplementation(() => undefined);
    onTestFinished(() => printed.mockRestore());
    await expect(run(aiSdkAgent(agent))).rejects.toThrow();
    await expect(
      run(aiSdkAgent(new ToolLoopAgent({ model: writingModel(['a']) })), AbortSignal.abort()),
    ).rejects.toThrow();
  });
});

describe('an agent of LangChain', () => {
  it('streams its text [SDK-10]', async () => {
    const agent = createAgent({ model: new FakeListChatModel({ responses: ['abc'] }) });
    const { pieces, returned } = await run(langChainAgent(agent));
    expect(pieces.join('')).toBe('abc');
    expect(pieces.length).toBeGreaterThan(1);
    expect(returned).toBeUndefined();
  });

  it('gets task and input, and answers also if its model does not stream', async () => {
    const model = fakeModel().respond(new AIMessage('whole'));
    const { pieces, returned } = await run(langChainAgent(createAgent({ model })));
    expect(returned ?? pieces.join('')).toBe('whole');
    expect(JSON.stringify(model.calls)).toContain(JSON.stringify(PROMPT).slice(1, -1));
  });

  it('returns its structured response', async () => {
    // The events of a graph with `responseFormat`.
    const graph = {
      stream: async () =>
        (async function* () {
          yield ['values', { messages: [] }];
          yield ['values', { messages: [], structuredResponse: { word: 'ü' } }];
        })(),
    };
    expect(await run(langChainAgent(graph))).toEqual({ pieces: [], returned: { word: 'ü' } });
  });

  it('fails if its run was cancelled', async () => {
    const agent = createAgent({ model: new FakeListChatModel({ responses: ['abc'], sleep: 50 }) });
    const controller = new AbortController();
    const running = run(langChainAgent(agent), controller.signal);
    controller.abort();
    await expect(running).rejects.toThrow();
  });
});
