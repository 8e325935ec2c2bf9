import { createClient } from '@agent-rental/sdk';
import { createStandIn, hangingAgent, STAND_IN_API_KEY, type StandIn } from '@agent-rental/stand-in';
import { asSchema, generateText, simulateReadableStream, stepCountIs, streamText } from 'ai';
import { MockLanguageModelV3 } from 'ai/test';
import { describe, expect, it } from 'vitest';
import { rentedTools, type RentedToolsOptions } from './rented-tools.js';

const ID = 'echo-aaaaaa';

function toolsOf(standIn: StandIn, options?: RentedToolsOptions): ReturnType<typeof rentedTools> {
  const client = createClient({
    baseUrl: 'http://market.invalid',
    apiKey: STAND_IN_API_KEY,
    fetch: standIn.fetch,
    retries: 0,
  });
  return rentedTools(client, options);
}

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};

/** Calls a tool, then says `Done.`; remembers what it was sent. */
function callingModel(args: unknown, toolName = 'echo_aaaaaa'): MockLanguageModelV3 {
  const call = { type: 'tool-call' as const, toolCallId: 'call_1', toolName, input: JSON.stringify(args) };
  const calling = { unified: 'tool-calls' as const, raw: undefined };
  const done = { unified: 'stop' as const, raw: undefined };
  return new MockLanguageModelV3({
    doGenerate: [
      { content: [call], finishReason: calling, usage, warnings: [] },
      { content: [{ type: 'text', text: 'Done.' }], finishReason: done, usage, warnings: [] },
    ],
    doStream: [
      {
        stream: simulateReadableStream({ chunks: [call, { type: 'finish', finishReason: calling, usage }] }),
      },
      {
        stream: simulateReadableStream({
          chunks: [
            { type: 'text-start', id: 't' },
            { type: 'text-delta', id: 't', delta: 'Done.' },
            { type: 'text-end', id: 't' },
            { type: 'finish', finishReason: done, usage },
          ],
        }),
      },
    ],
  });
}

/** What the model got back as the tool's result. */
function seenByModel(model: MockLanguageModelV3): unknown {
  const prompt = model.doGenerateCalls[1]?.prompt ?? model.doStreamCalls[1]?.prompt ?? [];
  const [part] = prompt.flatMap((message) => (message.role === 'tool' ? message.content : []));
  return part?.type === 'tool-result' ? part.output : undefined;
}

describe('rentedTools', () => {
  it('publishes names, descriptions and portable schemas', async () => {
    const tools = await toolsOf(createStandIn([{ id: ID }]));
    expect(Object.keys(tools)).toEqual([
      'search_listings',
      'get_listing',
      'run_agent',
      'get_run',
      'echo_aaaaaa',
    ]);
    const { description, inputSchema } = tools['echo_aaaaaa']!;
    expect(description).toContain('Runs the rented agent "echo-aaaaaa"');
    expect(asSchema(inputSchema).jsonSchema).toMatchObject({
      type: 'object',
      required: ['agent_id', 'task'],
    });
  });

  it('gives generateText a typed result and the model its text', async () => {
    const standIn = createStandIn([{ id: ID }]);
    const model = callingModel({ agent_id: ID, task: 'sum', input: { text: 'x' } });
    const result = await generateText({
      model,
      tools: await toolsOf(standIn),
      prompt: 'Sum.',
      stopWhen: stepCountIs(3),
    });
    const output = { task: 'sum', input: { text: 'x' } };
    expect(result.text).toBe('Done.');
    expect(result.steps[0]?.toolResults[0]?.output).toMatchObject({
      status: 'completed',
      structured: output,
      runId: 'run_1',
      costLamports: 2_000_000,
    });
    expect(seenByModel(model)).toEqual({
      type: 'text',
      value: `${JSON.stringify(output)}\n\n[agent-rental] Run run_1 completed. Charged 2000000 lamports (0.002 SOL).`,
    });
  });

  it('streams preliminary results, the last of which is the result', async () => {
    const model = callingModel({ task: 't' });
    const tools = await toolsOf(createStandIn([{ id: ID }]));
    const result = streamText({ model, tools, prompt: 'Sum.', stopWhen: stepCountIs(3) });
    const outputs: unknown[] = [];
    for await (const part of result.fullStream) {
      if (part.type === 'tool-result') outputs.push([part.preliminary ?? false, part.output]);
    }
    expect(outputs).toMatchObject([
      [true, { status: 'running', text: 'working' }],
      [true, { status: 'completed' }],
      [false, { status: 'completed', structured: { task: 't' } }],
    ]);
    expect(await result.text).toBe('Done.');
  });

  it.each([undefined, 'another-aaaaaa', 3])(
    'runs its agent whatever agent_id says (%j)',
    async (agent_id) => {
      const model = callingModel({ agent_id, task: 't' });
      const tools = await toolsOf(createStandIn([{ id: ID }]));
      const result = await generateText({ model, tools, prompt: 'Sum.', stopWhen: stepCountIs(3) });
      expect(result.steps[0]?.toolResults[0]?.output).toMatchObject({ status: 'completed', agentId: ID });
    },
  );

  it('reports a failure to the model as an error in words', async () => {
    const model = callingModel({ agent_id: ID, task: 't' }, 'run_agent');
    const tools = await toolsOf(createStandIn([{ id: ID, rental: 'low_balance' }]));
    await generateText({ model, tools, prompt: 'Sum.', stopWhen: stepCountIs(3) });
    expect(seenByModel(model)).toMatchObject({
      type: 'error-text',
      value: expect.stringMatching(/^\[agent-rental\] insufficient_balance: .* Top up/),
    });
  });

  it('pays once for a tool call of a conversation, and again for that of another', async () => {
    const standIn = createStandIn([{ id: ID }]);
    const once = async (scope?: string) => {
      const tools = await toolsOf(standIn, { scope });
      await generateText({
        model: callingModel({ task: 't' }),
        tools,
        prompt: 'Sum.',
        stopWhen: stepCountIs(3),
      });
    };
    await once('one');
    await once('one');
    expect(standIn.charged).toBe(2_000_000);
    await once('two');
    await once();
    await once();
    expect(standIn.charged).toBe(8_000_000);
  });

  it('aborts the run when the call is aborted', async () => {
    const agent = hangingAgent();
    const tools = await toolsOf(createStandIn([{ id: ID, run: agent.run }]));
    const controller = new AbortController();
    const outcome = generateText({
      model: callingModel({ task: 't' }),
      tools,
      prompt: 'Sum.',
      stopWhen: stepCountIs(3),
      abortSignal: controller.signal,
    }).catch((error: unknown) => error);
    await agent.begun;
    controller.abort();
    await agent.aborted;
    await outcome;
  });
});
