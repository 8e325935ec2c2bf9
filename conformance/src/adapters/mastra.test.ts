import { mastraAgent, type AnswerPieces, type MastraAgent } from '@agent-rental/sdk/creator';
import { npmTool } from '@agent-rental/stand-in/npm-tool';
import { FORM } from '@agent-rental/test/support/form';
import { simulateReadableStream } from 'ai';
import { MockLanguageModelV3 } from 'ai/test';
import { expect, test } from 'vitest';
import * as z from 'zod';

/** The module with agents of Mastra, which has too many dependencies to be one here. */
const MASTRA = ['@mastra/core', '1.71.0', 'dist/agent/index.js', ['zod@4.6.7']] as const;
const TASK = { run_id: 'run', agent_id: 'agent', task: 'Say it.', timeout_seconds: 60 };

/** A model that writes these pieces, with a wait before each. */
const writing = (pieces: readonly string[], waitMs = 0) =>
  new MockLanguageModelV3({
    doStream: async () => ({
      stream: simulateReadableStream({
        initialDelayInMs: waitMs,
        chunkDelayInMs: waitMs,
        chunks: [
          { type: 'stream-start', warnings: [] } as const,
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
    }),
  });

test.skipIf(FORM !== 'full')(
  'an agent of Mastra streams, returns its object, fails with its model, and stops on abort [SDK-10]',
  { timeout: 300_000 },
  async () => {
    const [name, version, path, beside] = MASTRA;
    const { Agent } = (await import(await npmTool(name, version, path, beside))) as {
      Agent: new (options: object) => MastraAgent;
    };
    const agentOf = (model: MockLanguageModelV3) =>
      new Agent({ id: 'agent', name: 'agent', instructions: 'Answer.', model, maxRetries: 0 });
    const run = async (...[agent, options]: Parameters<typeof mastraAgent>) => {
      const controller = new AbortController();
      const answer = (await mastraAgent(agent, options)(TASK, controller)) as AnswerPieces;
      const iterator = answer[Symbol.asyncIterator]();
      return { controller, next: () => iterator.next() };
    };
    const { next } = await run(agentOf(writing(['a', 'b'])));
    expect([await next(), await next(), await next()]).toMatchObject([
      { value: 'a' },
      { value: 'b' },
      { done: true },
    ]);
    const outputSchema = z.object({ word: z.string() });
    const object = await run(agentOf(writing(['{"word":', '"ü"}'])), { outputSchema });
    let last = await object.next();
    while (last.done !== true) last = await object.next();
    expect(last.value).toEqual({ word: 'ü' });
    const failing = new MockLanguageModelV3({ doStream: () => Promise.reject(new Error('no model')) });
    await expect((await run(agentOf(failing))).next()).rejects.toThrow('no model');
    const slow = await run(agentOf(writing(['a', 'b', 'c'], 50)));
    await slow.next();
    slow.controller.abort();
    await expect(slow.next().then(() => slow.next())).rejects.toThrow();
  },
);
