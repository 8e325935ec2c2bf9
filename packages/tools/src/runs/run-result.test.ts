import { describe, expect, it } from 'vitest';
import { defineTool } from '../definitions/rented-tool.js';
import { RESULT_MAX_BYTES } from './run-result.js';
import {
  answeringAgent,
  createStandIn,
  hangingAgent,
  type StandIn,
  type StandInListing,
} from '@agent-rental/stand-in';
import { clientOf, toolOf as toolOfClient } from '../testing/tools-of.js';

const ID = 'echo-aaaaaa';

const toolOf = (standIn: StandIn, name = 'echo_aaaaaa') => toolOfClient(clientOf(standIn), name);

const executed = (standIn: StandIn) =>
  standIn.requests.filter((request) => request.path.startsWith('/v1/execute'));

describe('a direct tool', () => {
  it('runs its agent and gives an object exactly, and as text', async () => {
    const standIn = createStandIn([{ id: ID }]);
    const deltas: string[] = [];
    const tool = await toolOf(standIn);
    const result = await tool.invoke(
      { agent_id: ID, task: 'sum', input: { text: 'a' } },
      { onDelta: (delta) => deltas.push(delta) },
    );
    const output = { task: 'sum', input: { text: 'a' } };
    expect(result).toEqual({
      status: 'completed',
      text: JSON.stringify(output),
      note: '[agent-rental] Run run_1 completed. Charged 2000000 lamports (0.002 SOL).',
      structured: output,
      runId: 'run_1',
      receiptPath: '/v1/runs/run_1/receipt',
      agentId: ID,
      costLamports: 2_000_000,
      durationMs: 12,
    });
    expect(deltas).toEqual(['working']);
  });

  it.each([undefined, 'other-aaaaaa', 7])(
    'runs its own agent when agent_id is %j [ADP-1]',
    async (agent_id) => {
      const standIn = createStandIn([{ id: ID }]);
      const tool = await toolOf(standIn);
      expect(await tool.invoke({ agent_id, task: 't' })).toMatchObject({ status: 'completed', agentId: ID });
      expect(executed(standIn)[0]?.body).toEqual({ agent_id: ID, task: 't' });
    },
  );

  it('gives text as text', async () => {
    const standIn = createStandIn([{ id: ID, rental_model: 'one_time', run: answeringAgent('All fine.') }]);
    const result = await (await toolOf(standIn)).invoke({ task: 't' });
    expect(result).toMatchObject({
      text: 'All fine.',
      note: '[agent-rental] Run run_1 completed. Charged nothing.',
    });
    expect(result.structured).toBeUndefined();
  });

  it('tells the cost of a failed run, and that the next costs again', async () => {
    const standIn = createStandIn([{ id: ID, run: answeringAgent('No table found.', 'failed') }]);
    const result = await (await toolOf(standIn)).invoke({ task: 't' });
    expect(result.status).toBe('failed');
    expect(result.text).toContain('Charged 2000000 lamports (0.002 SOL). Calling again charges again.');
    expect(result.text).toContain('No table found.');
  });

  it('cuts a long output and reads on with get_run until nothing is missing', async () => {
    const long = 'ä😀 words '.repeat(12_000);
    const standIn = createStandIn([{ id: ID, run: answeringAgent(long) }]);
    const first = await (await toolOf(standIn)).invoke({ task: 't' });
    expect(new TextEncoder().encode(first.text).length).toBeLessThanOrEqual(RESULT_MAX_BYTES);
    expect(first.note).toContain(`Read on with get_run {"run_id": "run_1", "offset": ${first.nextOffset}}`);
    const getRun = await toolOf(standIn, 'get_run');
    let text = first.text;
    for (let offset = first.nextOffset; offset !== undefined;) {
      const next = await getRun.invoke({ run_id: 'run_1', offset });
      text += next.text;
      offset = next.nextOffset;
    }
    expect(text).toBe(long);
    expect(standIn.charged).toBe(2_000_000);
  });

  it.each([
    [{}, '"task" is missing'],
    ['nonsense', 'not an object'],
    [{ task: 't', input: 7 }, 'it must be an object or a text'],
    [{ task: 't', input: JSON.parse(`${'{"a":'.repeat(500)}1${'}'.repeat(500)}`) }, 'nested deeper'],
  ])('refuses useless arguments itself, in words (%#)', async (args, message) => {
    const standIn = createStandIn([{ id: ID }]);
    const result = await (await toolOf(standIn)).invoke(args);
    expect(result).toMatchObject({ status: 'error', error: { code: 'invalid_request' } });
    expect(result.text).toContain(message);
    expect(executed(standIn)).toEqual([]);
  });

  it.each([
    ['credential_not_found', 'Rent it first'],
    ['insufficient_balance', 'Top up'],
    ['listing_paused', 'search_listings'],
    ['rate_limit_exceeded', 'Wait 7 seconds'],
  ] as const)('keeps the code %s and gives the next step', async (code, advice) => {
    const standIn = createStandIn([{ id: ID }]);
    const tool = await toolOf(standIn);
    standIn.failNextRun = { code, message: 'As it is.', retryAfterSeconds: 7 };
    const result = await tool.invoke({ task: 't' });
    expect(result.error).toMatchObject({ code, requestId: 'req_stand_in' });
    expect(result.text).toContain(`[agent-rental] ${code}: As it is.`);
    expect(result.text).toContain(advice);
  });

  it('pays once when the stream breaks, and still gives the answer', async () => {
    const standIn = createStandIn([{ id: ID, run: answeringAgent({ total: 4 }) }]);
    const tool = await toolOf(standIn);
    standIn.cutNextStream = true;
    expect(await tool.invoke({ task: 't' })).toMatchObject({ status: 'completed', structured: { total: 4 } });
    const keys = executed(standIn).map((request) => request.headers.get('idempotency-key'));
    expect(keys).toHaveLength(2);
    expect(new Set(keys).size).toBe(1);
    expect(standIn.charged).toBe(2_000_000);
  });

  it('is one run for one call identity, and as many runs as there are calls', async () => {
    const standIn = createStandIn([{ id: ID }]);
    const tool = await toolOf(standIn);
    const call = { scope: 'thread-1', toolCallId: 'call-1' };
    await tool.invoke({ task: 't' }, { call });
    await tool.invoke({ agent_id: ID, task: 't' }, { call });
    expect(standIn.charged).toBe(2_000_000);
    await tool.invoke({ task: 't' }, { call: { ...call, scope: 'thread-2' } });
    await tool.invoke({ task: 't' }, { call: { ...call, toolCallId: 'call-2' } });
    await tool.invoke({ task: 't' });
    expect(standIn.charged).toBe(8_000_000);
  });

  it('aborts the request, and throws the reason', async () => {
    const agent = hangingAgent();
    const standIn = createStandIn([{ id: ID, run: agent.run }]);
    const controller = new AbortController();
    const running = (await toolOf(standIn)).invoke(
      { task: 't' },
      { signal: controller.signal, onDelta: () => controller.abort(new Error('enough')) },
    );
    await expect(running).rejects.toThrow('enough');
    await agent.aborted;
  });
});

describe('run_agent', () => {
  it('runs an agent rented a moment ago', async () => {
    const standIn = createStandIn();
    const tool = await toolOf(standIn, 'run_agent');
    standIn.add({ id: ID });
    const result = await tool.invoke({ agent_id: ID, task: 't', input: { text: 'x' } });
    // {"text": ...} is this agent's own object, not text.
    expect(result.structured).toEqual({ task: 't', input: { text: 'x' } });
  });

  it('gives text to an agent that takes text', async () => {
    const standIn = createStandIn([{ id: ID, input_schema: { type: 'string' } }]);
    const tool = await toolOf(standIn, 'run_agent');
    expect(await tool.invoke({ agent_id: ID, task: 't', input: { text: 'x' } })).toMatchObject({
      structured: { input: 'x' },
    });
  });

  it('says how to get an agent that is not rented', async () => {
    const tool = await toolOf(createStandIn([{ id: ID, rental: 'none' }]), 'run_agent');
    const result = await tool.invoke({ agent_id: ID, task: 't' });
    expect(result).toMatchObject({ status: 'error', error: { code: 'credential_not_found', status: 403 } });
  });

  it('says where a Per-Task agent that is not rented is paid for by the call, and no other agent', async () => {
    const invoke = async (fields: Partial<StandInListing>) => {
      const standIn = createStandIn([{ id: ID, rental: 'none', ...fields }]);
      return (await toolOf(standIn, 'run_agent')).invoke({ agent_id: ID, task: 't' });
    };
    const offered = await invoke({ price_lamports: 300_000 });
    expect(offered.error?.payPerCall).toEqual({
      url: expect.stringMatching(/^http.*\/v1\/execute$/) as string,
      priceLamports: 300_000,
    });
    expect(offered.text).toContain('Rent it first with rent_listing');
    expect(offered.text).toContain(
      `POST ${offered.error?.payPerCall?.url} without an API key answers HTTP 402`,
    );
    expect(offered.text).toContain('300000 lamports (0.0003 SOL)');
    const whole = clientOf(createStandIn([{ id: ID, rental: 'none' }]));
    const invokeWith = async (getListing: typeof whole.getListing) =>
      (await toolOfClient({ ...whole, getListing }, 'run_agent')).invoke({ agent_id: ID, task: 't' });
    for (const refused of [
      await invoke({ rental_model: 'one_time' }),
      await invokeWith(async (id) => ({ ...(await whole.getListing(id)), status: 'paused' })),
      await invokeWith(async () => Promise.reject(new Error('lost'))),
    ]) {
      expect(refused.error).toMatchObject({ code: 'credential_not_found' });
      expect(refused.error).not.toHaveProperty('payPerCall');
      expect(refused.text).not.toContain('402');
    }
  });
});

describe('spending', () => {
  it.each([
    ['echo_aaaaaa', {}, { kind: 'run', lamports: 2_000_000 }],
    ['flat_aaaaaa', {}, { kind: 'run', lamports: 0 }],
    ['run_agent', { agent_id: ID }, { kind: 'run', lamports: 2_000_000 }],
    ['run_agent', { agent_id: 'absent-aaaaaa' }, { kind: 'nothing' }],
    ['run_agent', 'nonsense', { kind: 'nothing' }],
    ['search_listings', {}, { kind: 'nothing' }],
  ])('of %s with %j is known before the call', async (name, args, spending) => {
    const standIn = createStandIn([{ id: ID }, { id: 'flat-aaaaaa', rental_model: 'one_time' }]);
    expect(await (await toolOf(standIn, name)).spending(args)).toEqual(spending);
    expect(executed(standIn)).toEqual([]);
  });

  it('of a run whose price cannot be told has no amount', async () => {
    const standIn = createStandIn([{ id: ID }]);
    const client = clientOf(standIn, { getListing: () => Promise.reject(new Error('down')) });
    const offline = await toolOfClient(client, 'run_agent');
    expect(await offline.spending({ agent_id: ID })).toEqual({ kind: 'run' });
  });

  it.each([
    ['rent_listing', {}, 'rental'],
    ['hire', { dry_run: 'yes' }, 'rental'],
    ['hire', { dry_run: true }, 'nothing'],
  ])('of %s with %j is %s', async (name, args, kind) => {
    const found = await toolOf(createStandIn(), 'get_run');
    const { spending: _, invoke: __, ...described } = found;
    expect(await defineTool({ ...described, name }).spending(args)).toEqual({ kind });
  });
});

describe('the tools that look things up', () => {
  it('search, page by page, with cleaned texts', async () => {
    const agents = [0, 1, 2].map((index) => ({ id: `agent-${index}-aaaaaa`, title: `Agent\u202e ${index}` }));
    const tool = await toolOf(createStandIn(agents), 'search_listings');
    const page = await tool.invoke({ query: 'Agent', limit: 2 });
    expect(page.structured).toMatchObject({
      total: 3,
      next_offset: 2,
      listings: [{ agent_id: 'agent-0-aaaaaa', title: 'Agent 0' }, {}],
    });
    expect(JSON.parse(page.text)).toEqual(page.structured);
    const last = await tool.invoke({ query: 'Agent', limit: '2', offset: 2 });
    expect(last.structured).not.toHaveProperty('next_offset');
  });

  it.each([
    ['search_listings', { category: 'cooking' }, 'invalid_request'],
    ['get_run', { run_id: 'run_9' }, 'not_found'],
  ])('report a refusal of the service: %s %j', async (name, args, code) => {
    const tool = await toolOf(createStandIn(), name);
    expect(await tool.invoke(args)).toMatchObject({ status: 'error', error: { code } });
  });

  it('show a listing with its exact schema and the state of the rental', async () => {
    const input_schema = { type: 'object', properties: { a: { type: 'string', pattern: '^x' } } };
    const standIn = createStandIn([{ id: ID, input_schema, rental: 'low_balance' }]);
    const shown = await (await toolOf(standIn, 'get_listing')).invoke({ agent_id: ID });
    const rental = { status: 'low_balance', valid: false };
    expect(shown.structured).toMatchObject({ agent_id: ID, input_schema, rental });
  });

  it('show a listing whose texts and schemas are as long as may be, within one result', async () => {
    const properties = Object.fromEntries(
      Array.from({ length: 900 }, (_, i) => [`p${i}`, { type: 'string', description: 'd'.repeat(40) }]),
    );
    const input_schema = { type: 'object', properties };
    const longest = { id: ID, input_schema, output_schema: input_schema, description: 'é'.repeat(4_000) };
    const standIn = createStandIn([longest]);
    const shown = await (await toolOf(standIn, 'get_listing')).invoke({ agent_id: ID });
    expect(new TextEncoder().encode(shown.text).length).toBeLessThan(RESULT_MAX_BYTES);
  });
});
