import { EventEmitter, once } from 'node:events';
import { AIMessage } from '@langchain/core/messages';
import { FakeListChatModel } from '@langchain/core/utils/testing';
import { END, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph';
import { Client, InMemoryTransport } from '@modelcontextprotocol/client';
import { McpServer } from '@modelcontextprotocol/server';
import { Output, simulateReadableStream, ToolLoopAgent } from 'ai';
import { MockLanguageModelV3 } from 'ai/test';
import { createAgent, fakeModel } from 'langchain';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import * as z from 'zod';
import type { AgentFunction, AgentTask, AnswerPieces } from './agent-task.js';
import { aiSdkAgent } from './ai-sdk-agent.js';
import { langChainAgent } from './langchain-agent.js';
import { mastraAgent } from './mastra-agent.js';
import { mcpToolAgent } from './mcp-tool-agent.js';

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

describe('a graph of LangGraph', () => {
  const graphOf = (model: FakeListChatModel) =>
    new StateGraph(MessagesAnnotation)
      .addNode('answer', async ({ messages }, config) => ({
        messages: [await model.invoke(messages, config)],
      }))
      .addEdge(START, 'answer')
      .addEdge('answer', END)
      .compile();

  it('streams its text, and stops when its run is cancelled [SDK-10]', async () => {
    const graph = graphOf(new FakeListChatModel({ responses: ['abc'] }));
    expect((await run(langChainAgent(graph))).pieces.join('')).toBe('abc');
    const slow = graphOf(new FakeListChatModel({ responses: ['abc'], sleep: 5_000 }));
    const controller = new AbortController();
    const running = run(langChainAgent(slow), controller.signal);
    controller.abort();
    await expect(running).rejects.toThrow();
  });
});

describe('an agent of Mastra', () => {
  /** The result of `stream`, in the form of Mastra 1. */
  const agentOf = (pieces: string[], more: { object?: unknown; error?: Error } = {}) => {
    const asked: { prompt: string; options: object }[] = [];
    const stream = async (prompt: string, options: object) => {
      asked.push({ prompt, options });
      const textStream = (async function* () {
        yield* pieces;
      })();
      return { textStream, object: Promise.resolve(more.object), error: more.error };
    };
    return { asked, stream };
  };

  it('streams its text, and is asked with task, input and signal [SDK-10]', async () => {
    const agent = agentOf(['a', 'b']);
    const { signal } = new AbortController();
    expect(await run(mastraAgent(agent), signal)).toEqual({ pieces: ['a', 'b'], returned: undefined });
    expect(agent.asked).toEqual([{ prompt: PROMPT, options: { abortSignal: signal } }]);
  });

  it('returns its object, and fails if its model fails or its run was cancelled', async () => {
    const schema = z.object({ word: z.string() });
    const agent = agentOf([], { object: { word: 'ü' } });
    expect((await run(mastraAgent(agent, { outputSchema: schema }))).returned).toEqual({ word: 'ü' });
    await expect(run(mastraAgent(agentOf([], { error: new Error('no model') })))).rejects.toThrow('no model');
    await expect(run(mastraAgent(agentOf(['a'])), AbortSignal.abort())).rejects.toThrow();
  });
});

describe('a tool of MCP', () => {
  async function connected() {
    const server = new McpServer({ name: 'tools', version: '1' });
    const calls = new EventEmitter();
    const [started, cancelled] = [once(calls, 'started'), once(calls, 'cancelled')];
    const word = z.object({ word: z.string() });
    server.registerTool('upper', { inputSchema: word, outputSchema: word }, async ({ word: text }) => ({
      content: [{ type: 'text', text: 'done' }],
      structuredContent: { word: text.toUpperCase() },
    }));
    server.registerTool('text', {}, async () => ({ content: [{ type: 'text', text: 'plain' }] }));
    server.registerTool('fails', {}, async () => ({
      content: [{ type: 'text', text: 'no paper' }],
      isError: true,
    }));
    server.registerTool('hangs', {}, async ({ mcpReq: { signal } }) => {
      calls.emit('started');
      await once(signal, 'abort');
      calls.emit('cancelled');
      return { content: [] };
    });
    const [here, there] = InMemoryTransport.createLinkedPair();
    const client = new Client({ name: 'test', version: '1' });
    await server.connect(there);
    await client.connect(here);
    onTestFinished(() => client.close());
    return { client, started, cancelled };
  }
  const call = async (client: Client, name: string, signal = new AbortController().signal) =>
    mcpToolAgent(client, name)(TASK, { signal });

  it('gets the input as its arguments, and returns structured content or text [SDK-10]', async () => {
    const { client } = await connected();
    expect(await call(client, 'upper')).toEqual({ word: 'Ü' });
    expect(await call(client, 'text')).toBe('plain');
  });

  it('fails if the tool fails, and cancels the call of a cancelled run', async () => {
    const { client, started, cancelled } = await connected();
    await expect(call(client, 'fails')).rejects.toThrow('no paper');
    const controller = new AbortController();
    const running = call(client, 'hangs', controller.signal);
    await started;
    controller.abort();
    await expect(running).rejects.toThrow();
    await cancelled;
  });
});
