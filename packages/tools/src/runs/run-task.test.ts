import { EQUAL_CALL_SECONDS } from '@agent-rental/contract';
import { ApiError, ConnectionError, type RentalClient } from '@agent-rental/sdk';
import { answeringAgent, createStandIn } from '@agent-rental/stand-in';
import { once } from 'node:events';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { InvokeOptions } from '../definitions/rented-tool.js';
import { clientOf, toolOf, toolsOf } from '../testing/tools-of.js';
import type { ToolsetOptions } from '../toolset.js';

const ID = 'echo-aaaaaa';
const PRICE = 2_000_000;
const ENDED = { run_id: 'run_9', agent_id: ID, status: 'completed', output: 'late', duration_ms: 1 } as const;
const RUNNING = { run_id: 'run_9', agent_id: ID, status: 'running' } as const;

const runAgent = (client: RentalClient, toolset: ToolsetOptions = {}) =>
  toolsOf(client, toolset).named('run_agent');
const run = (client: RentalClient, options: InvokeOptions = {}, toolset: ToolsetOptions = {}) =>
  runAgent(client, toolset).invoke({ agent_id: ID, task: 't' }, options);

/** A stream that yields nothing until its last caller leaves. */
function silentStream(runId?: string): RentalClient['executeStream'] {
  return async function* (_body, { leave, onRunId } = {}) {
    yield* [];
    if (runId !== undefined) onRunId?.(runId);
    if (leave === undefined) throw new Error('Nothing would ever end this wait.');
    if (!leave.aborted) await once(leave, 'abort');
    throw leave.reason;
  };
}

describe('a run', () => {
  it('whose stream ends with a fault of the service says how to get its result', async () => {
    const [code, status] = ['service_unavailable', 503] as const;
    const error = { code, message: 'Not yet paid.', status, run_id: 'run_9' };
    const { agent_id: _, ...done } = { ...ENDED, status: 'failed' as const, cost_lamports: 0, error };
    const client = clientOf(createStandIn(), {
      async *executeStream() {
        yield { event: 'done', data: done };
      },
    });
    const result = await run(client);
    expect(result).toMatchObject({ status: 'error', runId: 'run_9', error: { code, status } });
    expect(result.text).toContain('get_run {"run_id": "run_9"}');
  });

  it('without an answer may have been charged, and a caller of equal calls learns to call again', async () => {
    const lost = () => Promise.reject(new ConnectionError('The line is dead.'));
    const client = clientOf(createStandIn(), {
      execute: lost,
      async *executeStream() {
        yield* [];
        await lost();
      },
    });
    const { text, error } = await run(client);
    expect(error?.code).toBe('connection_error');
    expect(text).toContain('may have been charged');
    expect(text).not.toContain('Call again with the same arguments');
    const equal = await run(client, { equalCallsOf: 'session-1' });
    expect(equal.text).toContain('Call again with the same arguments');
  });

  it('tells the callback of its call, or of its toolset', async () => {
    const standIn = createStandIn([{ id: ID }]);
    const client = clientOf(standIn);
    const [hook, other] = ['https://hook.example/a', 'https://hook.example/b'];
    await run(client, {}, { callback: { url: hook } });
    await run(client, { callback: { url: other, events: ['run.failed'] } }, { callback: { url: hook } });
    await run(client);
    const bodies = standIn.requests
      .filter(({ path }) => path.startsWith('/v1/execute'))
      .map(({ body }) => body);
    expect(bodies).toEqual([
      { agent_id: ID, task: 't', callback_url: hook },
      { agent_id: ID, task: 't', callback_url: other, callback_events: ['run.failed'] },
      { agent_id: ID, task: 't' },
    ]);
  });

  it('says nothing hidden while it works', async () => {
    const standIn = createStandIn([
      {
        id: ID,
        run: async function* () {
          yield 'a\u202e\u200bb';
          return { output: 'done' };
        },
      },
    ]);
    const deltas: string[] = [];
    await run(clientOf(standIn), { onDelta: (delta) => deltas.push(delta) });
    expect(deltas).toEqual(['ab']);
  });

  it.each([
    ['', "[agent-rental] The agent's output is an empty text."],
    ['plain', 'plain'],
  ])('with the output %j is read as something', async (output, text) => {
    const standIn = createStandIn([{ id: ID, run: answeringAgent(output) }]);
    expect((await run(clientOf(standIn))).text).toBe(text);
  });

  it('that fails with a long text is reported briefly', async () => {
    const standIn = createStandIn([{ id: ID, run: answeringAgent('no '.repeat(50_000), 'failed') }]);
    const { text } = await run(clientOf(standIn));
    expect(text).toContain('no no no');
    expect(text.length).toBeLessThan(5_000);
  });
});

describe('a run that takes longer than its call waits', () => {
  afterEach(() => void vi.useRealTimers());

  it('goes on, and the call says how to get its result', async () => {
    const getRun = vi.fn<RentalClient['getRun']>(async () => RUNNING);
    const client = clientOf(createStandIn(), { executeStream: silentStream('run_9'), getRun });
    const result = await run(client, { patienceMs: 1 });
    expect(result).toMatchObject({ status: 'running', runId: 'run_9', agentId: ID });
    expect(result.text).toContain('get_run {"run_id": "run_9"}');
    expect(getRun).toHaveBeenCalledWith('run_9', expect.anything());
  });

  it('and has just ended is answered with its end', async () => {
    const getRun = async () => ({ ...ENDED, cost_lamports: 5 });
    const client = clientOf(createStandIn(), { executeStream: silentStream('run_9'), getRun });
    expect(await run(client, { patienceMs: 1 })).toMatchObject({ status: 'completed', text: 'late' });
  });

  it.each(['came to nothing', 'was not started'])(
    'and %s is started in the background, under the same key',
    async (state) => {
      const fault = { code: 'service_unavailable', message: 'Gone.', status: 503 } as const;
      const getRun = vi.fn<RentalClient['getRun']>(
        async () =>
          ({ ...ENDED, status: 'failed', cost_lamports: 0, error: fault }) as unknown as typeof RUNNING,
      );
      const later = { ...RUNNING, run_id: 'run_10' };
      const executeAsync = vi.fn<RentalClient['executeAsync']>(async () => later);
      const executeStream = silentStream(state === 'came to nothing' ? 'run_9' : undefined);
      const client = clientOf(createStandIn(), { executeStream, getRun, executeAsync });
      const result = await run(client, { patienceMs: 1, idempotencyKey: 'key-1' });
      expect(result).toMatchObject({ status: 'running', runId: 'run_10' });
      expect(getRun).toHaveBeenCalledTimes(state === 'came to nothing' ? 1 : 0);
      expect(executeAsync).toHaveBeenCalledWith(
        { agent_id: ID, task: 't' },
        expect.objectContaining({ idempotencyKey: 'key-1' }),
      );
    },
  );

  it('and was started by an equal call is joined again under the same key, and its text says so [RUN-24]', async () => {
    const executeAsync = vi.fn<RentalClient['executeAsync']>(async () => ({
      ...RUNNING,
      joined: { begun_seconds_ago: 5 },
    }));
    const client = clientOf(createStandIn(), { executeStream: silentStream(), executeAsync });
    const result = await run(client, { patienceMs: 1, equalCallsOf: 'session-1' });
    expect(result.text).toContain('which an equal call started 5 s ago');
    expect(executeAsync).toHaveBeenCalledWith(
      { agent_id: ID, task: 't' },
      expect.objectContaining({ keyWindowSeconds: EQUAL_CALL_SECONDS }),
    );
  });

  it('ends at once for a caller who has already left', async () => {
    const leaving = new AbortController();
    const client = clientOf(createStandIn(), { executeStream: silentStream('run_9') });
    const running = run(client, { patienceMs: 3_600_000, leave: leaving.signal });
    leaving.abort(new Error('hung up'));
    await expect(running).rejects.toThrow('hung up');
  });

  it('leaves no timer behind once the call has ended', async () => {
    vi.useFakeTimers();
    const result = await run(clientOf(createStandIn([{ id: ID }])), { patienceMs: 60_000 });
    expect(result.status).toBe('completed');
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('equal calls of one caller', () => {
  const keysOf = async (...calls: { task?: string; options: InvokeOptions; args?: object }[]) => {
    const own = clientOf(createStandIn([{ id: ID }]));
    const keys: string[] = [];
    const client: RentalClient = {
      ...own,
      async execute(body, given = {}) {
        keys.push(`${given.idempotencyKey};window=${given.keyWindowSeconds}`);
        return own.execute(body, given);
      },
    };
    const tool = runAgent(client);
    for (const { task = 't', options, args } of calls)
      await tool.invoke({ agent_id: ID, task, ...args }, { endOnly: true, ...options });
    return keys;
  };

  it('have one key with a window, with any key of the call [RUN-24]', async () => {
    const [first, second, other, task] = await keysOf(
      { options: { equalCallsOf: 'session-1', idempotencyKey: 'a' } },
      { options: { equalCallsOf: 'session-1', idempotencyKey: 'b' } },
      { options: { equalCallsOf: 'session-2' } },
      { options: { equalCallsOf: 'session-1' }, task: 'other' },
    );
    expect(first).toMatch(/^[0-9a-f]{64};window=30$/);
    expect(second).toBe(first);
    expect(new Set([first, other, task]).size).toBe(3);
  });

  it('are another run with new_run, under the key of the call [RUN-24]', async () => {
    const [key] = await keysOf({
      options: { equalCallsOf: 'session-1', idempotencyKey: 'a' },
      args: { new_run: true },
    });
    expect(key).toBe('a;window=undefined');
  });
});

describe('the count of a run under a policy', () => {
  const twoRuns = { policy: { maxDayLamports: BigInt(2 * PRICE) } };

  it('is its charge', async () => {
    const client = clientOf(createStandIn([{ id: ID }]), {
      async *executeStream() {
        const { agent_id: _, ...done } = ENDED;
        yield { event: 'done', data: { ...done, cost_lamports: PRICE / 4 } };
      },
    });
    const tool = runAgent(client, twoRuns);
    const statuses: string[] = [];
    for (let count = 0; count < 6; count += 1)
      statuses.push((await tool.invoke({ agent_id: ID, task: 't' })).status);
    // A whole price is reserved each time; with five quarters spent it does not fit any more.
    expect(statuses).toEqual([...Array.from({ length: 5 }, () => 'completed'), 'error']);
  });

  it.each([
    ['a fault of the service', { status: 503 }],
    ['a refusal of a run that had started', { status: 429, runId: 'run_9' }],
  ])('is its price after %s, which may have been charged', async (_, facts) => {
    const client = clientOf(createStandIn([{ id: ID }]), {
      async *executeStream() {
        yield* [];
        throw new ApiError({ code: 'service_unavailable', message: 'Not now.', ...facts });
      },
    });
    const tool = runAgent(client, twoRuns);
    const call = async () => (await tool.invoke({ agent_id: ID, task: 't' })).error?.code;
    expect([await call(), await call()]).toEqual(['service_unavailable', 'service_unavailable']);
    expect(await call()).toBe('spending_refused');
  });

  it('must be known before the run', async () => {
    const standIn = createStandIn([{ id: ID }]);
    const getListing = () => Promise.reject(new ConnectionError('The line is dead.'));
    const result = await run(clientOf(standIn, { getListing }), {}, twoRuns);
    expect(result.error?.code).toBe('service_unavailable');
    expect(standIn.charged).toBe(0);
  });

  it('is counted once for all repeats of the same call', async () => {
    const standIn = createStandIn([{ id: ID }]);
    const tool = runAgent(clientOf(standIn), { policy: { maxDayLamports: BigInt(PRICE) } });
    for (let count = 0; count < 3; count += 1) {
      const again = await tool.invoke({ agent_id: ID, task: 't' }, { idempotencyKey: 'key-1' });
      expect(again.status).toBe('completed');
    }
    expect(standIn.charged).toBe(PRICE);
  });

  it('is asked about above the amount alone, of the call’s own approver before the toolset’s', async () => {
    const standIn = createStandIn([{ id: ID }]);
    const ask = (askAboveLamports: number): ToolsetOptions => ({
      policy: { askAboveLamports: BigInt(askAboveLamports) },
      approve: () => true,
    });
    const approvalOf = async (options: ToolsetOptions) =>
      (await toolOf(clientOf(standIn), 'echo_aaaaaa', options)).approvalOf?.({ task: 't' });
    expect(await approvalOf(ask(PRICE))).toBeUndefined();
    expect(await approvalOf(ask(PRICE - 1))).toMatchObject({ kind: 'run', lamports: PRICE });
    expect((await run(clientOf(standIn), {}, ask(PRICE - 1))).status).toBe('completed');
    const refused = await run(clientOf(standIn), { approve: () => false }, ask(PRICE - 1));
    expect(refused.error).toMatchObject({ code: 'spending_refused', rule: 'askAboveLamports' });
    expect(standIn.charged).toBe(PRICE);
  });
});
