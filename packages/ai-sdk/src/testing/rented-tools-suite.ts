import { createClient } from '@agent-rental/sdk';
import { createStandIn, hangingAgent, STAND_IN_API_KEY, type StandIn } from '@agent-rental/stand-in';
import { memoryLedger } from '@agent-rental/tools';
import { expect, expectTypeOf, it } from 'vitest';
import {
  rentedTools,
  type RentedToolOutput,
  type RentedToolSet,
  type RentedToolsOptions,
} from '../rented-tools.js';
import { callingModel, seenByModel, type AiVersion } from './calling-model.js';

const ID = 'echo-aaaaaa';
const PRICE = 2_000_000;

async function toolsOf(standIn: StandIn, options?: RentedToolsOptions): Promise<RentedToolSet> {
  const client = createClient({
    baseUrl: 'http://market.invalid',
    apiKey: STAND_IN_API_KEY,
    fetch: standIn.fetch,
    retries: 0,
  });
  return rentedTools(client, options);
}

/** The tests for every supported version of the AI SDK. */
export function rentedToolsSuite(version: AiVersion): void {
  const { generateText, streamText, stepCountIs, asSchema, ToolLoopAgent } = version.ai;
  const model = (args: unknown, toolName?: string) => callingModel(version, args, toolName);
  const ask = { prompt: 'Sum.', stopWhen: stepCountIs(3) };

  it('publishes names, descriptions and portable schemas', async () => {
    const tools = await toolsOf(createStandIn([{ id: ID }]));
    expect(Object.keys(tools)).toEqual(
      expect.arrayContaining(['search_listings', 'get_listing', 'run_agent', 'get_run', 'echo_aaaaaa']),
    );
    const { description, inputSchema } = tools['echo_aaaaaa']!;
    expect(description).toContain('Rented agent "echo-aaaaaa"');
    expect(asSchema(inputSchema).jsonSchema).toMatchObject({
      type: 'object',
      required: ['agent_id', 'task'],
    });
  });

  it('gives generateText a typed result and the model its text', async () => {
    const asked = model({ agent_id: ID, task: 'sum', input: { text: 'x' } });
    const tools = await toolsOf(createStandIn([{ id: ID }]));
    const result = await generateText({ model: asked, tools, ...ask });
    const output = { task: 'sum', input: { text: 'x' } };
    expect(result.text).toBe('Done.');
    const [called] = result.steps[0]?.toolResults ?? [];
    if (called?.dynamic !== true) expectTypeOf(called?.output).toEqualTypeOf<RentedToolOutput | undefined>();
    expect(called?.output).toMatchObject({
      status: 'completed',
      structured: output,
      runId: 'run_1',
      receiptPath: '/v1/runs/run_1/receipt',
      costLamports: PRICE,
    });
    expect(seenByModel(asked)).toEqual({
      type: 'text',
      value: `${JSON.stringify(output)}\n\n[agent-rental] Run run_1 completed. Charged 2000000 lamports (0.002 SOL).`,
    });
  });

  it('streams preliminary results, and the result last', async () => {
    const tools = await toolsOf(createStandIn([{ id: ID }]));
    const result = streamText({ model: model({ task: 't' }), tools, ...ask });
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

  it('serves an agent', async () => {
    const tools = await toolsOf(createStandIn([{ id: ID }]));
    const agent = new ToolLoopAgent({ model: model({ task: 't' }), tools });
    const { text, steps } = await agent.generate({ prompt: 'Sum.' });
    expect(text).toBe('Done.');
    expect(steps[0]?.toolResults[0]?.output).toMatchObject({ status: 'completed', runId: 'run_1' });
  });

  it.each([undefined, 'another-aaaaaa', 3])(
    'runs its agent with any agent_id (%j) [ADP-1]',
    async (agent_id) => {
      const tools = await toolsOf(createStandIn([{ id: ID }]));
      const result = await generateText({ model: model({ agent_id, task: 't' }), tools, ...ask });
      expect(result.steps[0]?.toolResults[0]?.output).toMatchObject({ status: 'completed', agentId: ID });
    },
  );

  it('reports a failure to the model as an error in words', async () => {
    const asked = model({ agent_id: ID, task: 't' }, 'run_agent');
    const tools = await toolsOf(createStandIn([{ id: ID, rental: 'low_balance' }]));
    const { steps } = await generateText({ model: asked, tools, ...ask });
    expect(seenByModel(asked)).toMatchObject({
      type: 'error-text',
      value: expect.stringMatching(/^\[agent-rental\] insufficient_balance: .* Top up/),
    });
    expect(steps[0]?.toolResults[0]?.output).toMatchObject({
      status: 'error',
      error: { code: 'insufficient_balance', requestId: 'req_stand_in' },
    });
  });

  it.each(['[]', 'not json', '"text"'])(
    'survives arguments that are no object (%s), charging nothing',
    async (args) => {
      const standIn = createStandIn([{ id: ID }]);
      const result = await generateText({ model: model(args), tools: await toolsOf(standIn), ...ask });
      expect(result.text).toBe('Done.');
      expect(standIn.charged).toBe(0);
    },
  );

  it('runs the same tool call id of two conversations twice, with one set of tools', async () => {
    const standIn = createStandIn([{ id: ID }]);
    const tools = await toolsOf(standIn);
    await generateText({ model: model({ task: 't' }), tools, ...ask });
    await generateText({ model: model({ task: 't' }), tools, ...ask });
    expect(standIn.charged).toBe(2 * PRICE);
    await streamText({ model: model({ task: 't' }), tools, ...ask }).text;
    expect(standIn.charged).toBe(3 * PRICE);
  });

  it('pays once for a tool call of a named conversation, also in another process', async () => {
    const standIn = createStandIn([{ id: ID }]);
    const once = async (scope: string) => {
      const tools = await toolsOf(standIn, { scope });
      await generateText({ model: model({ task: 't' }), tools, ...ask });
    };
    await once('one');
    await once('one');
    expect(standIn.charged).toBe(PRICE);
    await once('two');
    expect(standIn.charged).toBe(2 * PRICE);
  });

  it('pays once when the same step calls its tool again', async () => {
    const standIn = createStandIn([{ id: ID }]);
    const tool = (await toolsOf(standIn))['echo_aaaaaa']!;
    const messages: never[] = [];
    const twice = [1, 2].map(async () => {
      const results = tool.execute?.({ task: 't' }, { toolCallId: 'call_1', messages });
      for await (const _ of results as AsyncIterable<unknown>);
    });
    await Promise.all(twice);
    expect(standIn.charged).toBe(PRICE);
  });

  it('aborts the run when the call is aborted', async () => {
    const agent = hangingAgent();
    const tools = await toolsOf(createStandIn([{ id: ID, run: agent.run }]));
    const controller = new AbortController();
    const outcome = generateText({
      model: model({ task: 't' }),
      tools,
      abortSignal: controller.signal,
      ...ask,
    }).catch((error: unknown) => error);
    await agent.started;
    controller.abort();
    await agent.aborted;
    await outcome;
  });

  it.each([
    ['a direct tool', 'echo_aaaaaa'],
    ['run_agent', 'run_agent'],
  ])('asks a person before %s charges more than the threshold', async (_, toolName) => {
    const standIn = createStandIn([{ id: ID }]);
    const call = { agent_id: ID, task: 't' };
    const run = async (runAboveLamports?: number) => {
      const tools = await toolsOf(standIn, { approval: { runAboveLamports } });
      return generateText({ model: model(call, toolName), tools, ...ask });
    };
    const asked = await run(PRICE - 1);
    expect(standIn.charged).toBe(0);
    expect(asked.content).toContainEqual(expect.objectContaining({ type: 'tool-approval-request' }));
    await run(PRICE);
    expect(standIn.charged).toBe(PRICE);
    await run();
    expect(standIn.charged).toBe(2 * PRICE);
  });

  it.each<[string, RentedToolsOptions]>([
    ['the threshold', { approval: { runAboveLamports: 0 } }],
    ['the policy', { policy: { askAboveLamports: 1n } }],
  ])('asks a person as %s requires, and runs the approved call once', async (_, options) => {
    const standIn = createStandIn([{ id: ID }]);
    const tools = await toolsOf(standIn, options);
    const asked = model({ task: 't' });
    const first = await generateText({ model: asked, tools, ...ask });
    expect(standIn.charged).toBe(0);
    const request = first.content.find((part) => part.type === 'tool-approval-request');
    const answer = {
      role: 'tool' as const,
      content: [{ type: 'tool-approval-response' as const, approvalId: request!.approvalId, approved: true }],
    };
    const user = { role: 'user' as const, content: ask.prompt };
    const second = await generateText({
      model: asked,
      tools,
      messages: [user, ...first.response.messages, answer],
      stopWhen: ask.stopWhen,
    });
    expect(second.text).toBe('Done.');
    expect(standIn.charged).toBe(PRICE);
  });

  it('spends only the amount of the question to the person [REN-13]', async () => {
    const standIn = createStandIn([{ id: ID }]);
    let priceLamports = 1_000;
    const fetch: typeof globalThis.fetch = async (input, init) => {
      const response = await standIn.fetch(input, init);
      if (!new URL(new Request(input, init).url).pathname.startsWith('/v1/listings/')) return response;
      return Response.json({ ...((await response.json()) as object), price_lamports: priceLamports });
    };
    const client = () =>
      createClient({ baseUrl: 'http://market.invalid', apiKey: STAND_IN_API_KEY, fetch, retries: 0 });
    const options = { policy: { askAboveLamports: 1n }, ledger: memoryLedger(), limit: 0 };
    const call = { toolCallId: 'call_1', messages: [] };
    const args = { agent_id: ID, task: 't' };
    // The tools of another request, after the person's answer: only the ledger is the same.
    const runAgent = async () => (await rentedTools(client(), options))['run_agent']!;
    const asking = (await runAgent()).needsApproval;
    if (typeof asking !== 'function') throw new Error('No person is asked.');
    expect(await asking(args, call)).toBe(true);
    const outcome = async () => {
      let last: RentedToolOutput | undefined;
      const results = (await runAgent()).execute?.(args, call);
      for await (const result of results as AsyncIterable<RentedToolOutput>) last = result;
      return last;
    };
    priceLamports = 500_000;
    expect(await outcome()).toMatchObject({ status: 'error', error: { code: 'spending_refused' } });
    expect(standIn.charged).toBe(0);
    priceLamports = 1_000;
    expect(await outcome()).toMatchObject({ status: 'completed' });
  });

  it('asks before renting unless told not to, and not before looking up', async () => {
    const asks = async (approval?: RentedToolsOptions['approval']) => {
      const tools = await toolsOf(createStandIn([{ id: ID }]), { approval });
      const needed: [string, unknown][] = [];
      for (const [name, tool] of Object.entries(tools)) {
        if (typeof tool.needsApproval !== 'function') throw new Error(`${name} asks for no approval`);
        const all = { agent_id: ID, task: 't', budget_sol: 1, run_id: 'run_1' };
        const { properties = {} } = (tool.inputSchema as { jsonSchema: { properties?: object } }).jsonSchema;
        const call = Object.fromEntries(Object.entries(all).filter(([member]) => member in properties));
        needed.push([name, await tool.needsApproval(call, { toolCallId: 'c', messages: [] })]);
      }
      return needed.filter(([, needs]) => needs).map(([name]) => name);
    };
    const renting = Object.keys(await toolsOf(createStandIn())).filter((name) =>
      ['rent_listing', 'hire'].includes(name),
    );
    expect(await asks()).toEqual(renting);
    expect(await asks({ renting: false })).toEqual([]);
  });
}
