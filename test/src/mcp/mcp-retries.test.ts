import { setTimeout as delay } from 'node:timers/promises';
import { findRunningPostgres } from '@agent-rental/server/testing';
import { Pool } from 'pg';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { PRICE, publishAgent, rentAgent, textAgent } from '../support/agents/agents.js';
import {
  heldTask,
  slowAnswer,
  slowTask,
  startSlowAgents,
  type SlowAgents,
} from '../support/agents/slow-agents.js';
import { IS_QUICK } from '../support/form.js';
import {
  newStateDir,
  removeStateDir,
  startMarketplace,
  type OwnMarketplace,
} from '../support/marketplace.js';
import { newParticipant, type Participant } from '../support/participant.js';
import { openRawMcpSession } from '../support/raw-mcp-session.js';

/** Longer than a test: what is answered while its run goes on was answered early. */
const MCP_WAIT_SECONDS = '300';
/** The shortest default of a client known: that of the OpenAI Agents SDK for Python. */
const CLIENT_TIMEOUT_SECONDS = 5;
/** Cancels that come sooner are no timeouts. */
const SHORTEST_TIMEOUT_MS = 2_000;
/** Of earlier calls. One of them is that of a call now if the server heard of its end after 2 to 6.8 s. */
const EARLIER_TIMES_MS = [2_300, 3_000, 3_700, 4_400, 5_100, 5_800, 6_500];

let agents: SlowAgents;
let stateDir: string;
let marketplace: OwnMarketplace;
let database: Pool;
let agentId: string;

beforeAll(async () => {
  agents = await startSlowAgents();
  stateDir = await newStateDir();
  marketplace = await startMarketplace(stateDir, {
    MODEL_BASE_URL: agents.modelUrl,
    MODEL_NAME: 'stand-in',
    MCP_WAIT_SECONDS,
  });
  database = new Pool({ connectionString: findRunningPostgres(stateDir), max: 2 });
  agentId = await publishAgent(await newParticipant(marketplace), textAgent(agents.modelUrl));
}, 240_000);
afterAll(async () => {
  await database?.end();
  await marketplace?.stop();
  await agents?.close();
  await removeStateDir(stateDir);
});

/** A client that gives up on a call as some libraries do: it reads no more, says nothing, and leaves its connection open. */
async function openSession({ token, wallet }: Participant) {
  const session = await openRawMcpSession(`${marketplace.dev.base_url}/mcp`, token);
  const runAgent = (args: object, meta?: object) =>
    session.call('run_agent', { agent_id: agentId, ...args }, undefined, meta);
  return {
    call: session.call,
    runAgent,
    /** Begins a held task, and gives up on it after 5 s of its run. */
    async giveUpOn(name: string, meta?: object) {
      runAgent({ task: heldTask(name) }, meta).catch(() => undefined);
      await agents.reached(name);
      await database.query(
        `update runs set created_at = created_at - make_interval(secs => $2) where wallet = $1 and status = 'running'`,
        [wallet.publicKey.toBase58(), CLIENT_TIMEOUT_SECONDS],
      );
    },
    /** Begins a held task, and cancels its call that long after its agent has it. */
    async cancel(name: string, afterMs: number) {
      const calling = session.cancellableCall('run_agent', { agent_id: agentId, task: heldTask(name) });
      await agents.reached(name);
      await delay(afterMs);
      await calling.cancel();
    },
    cutAtAnswer: (args: object) => session.cutAtAnswer('run_agent', { agent_id: agentId, ...args }),
  };
}

async function newRenter(): Promise<Participant> {
  const renter = await newParticipant(marketplace);
  await rentAgent(renter, agentId, 10);
  return renter;
}

const costsOf = async ({ client }: Participant) =>
  (await client.listRuns()).runs.map(({ cost_lamports: cost }) => cost);
const statesOf = async ({ client }: Participant) =>
  (await client.listRuns()).runs.map(({ status }) => status);

describe.skipIf(IS_QUICK).concurrent('an MCP client that gives up', () => {
  test('and calls again is told of the run that goes on, gets its result, and pays once [RUN-24]', async ({
    expect,
  }) => {
    const renter = await newRenter();
    const client = await openSession(renter);
    await client.giveUpOn('once');
    const told = await client.runAgent({ task: heldTask('once') });
    expect(told).toMatch(/Run \S+, begun \d+ s ago by an equal call, is still running/);
    const run_id = /Run (\S+),/.exec(told ?? '')?.[1];
    expect(await client.call('get_run', { run_id })).toMatch(/is still running/);
    agents.release('once');
    await expect
      .poll(() => client.call('get_run', { run_id }), { timeout: 60_000 })
      .toContain(slowAnswer('once'));
    expect(await costsOf(renter)).toEqual([PRICE]);
    // What the client showed is known from then on: its next call is answered early at once.
    expect(await client.runAgent({ task: heldTask('next') })).toMatch(/is still running/);
    agents.release('next');
    await expect.poll(() => costsOf(renter), { timeout: 30_000 }).toEqual([PRICE, PRICE]);
  }, 120_000);

  test('and calls again just after the end gets the answer, and another run only if it says so [RUN-24]', async ({
    expect,
  }) => {
    const renter = await newRenter();
    const client = await openSession(renter);
    const task = heldTask('late');
    await client.giveUpOn('late');
    agents.release('late');
    await expect.poll(() => statesOf(renter), { timeout: 20_000 }).toEqual(['completed']);
    const again = await client.runAgent({ task });
    expect(again).toContain(slowAnswer('late'));
    expect(again).toMatch(/begun \d+ s ago by an equal call; nothing was charged for this one/);
    expect(await costsOf(renter)).toEqual([PRICE]);
    await client.runAgent({ task, new_run: true });
    await expect.poll(() => costsOf(renter), { timeout: 20_000 }).toEqual([PRICE, PRICE]);
  }, 120_000);

  test('and calls again after the answer of a short run was cut off gets that answer, and pays once [RUN-24]', async ({
    expect,
  }) => {
    const renter = await newRenter();
    const client = await openSession(renter);
    const task = slowTask(300, 'cut off');
    await client.cutAtAnswer({ task });
    // The server hears of the end of the connection after its client has seen it.
    const cut = `select from runs where wallet = $1 and answer_cut_at is not null`;
    const wallet = renter.wallet.publicKey.toBase58();
    await expect.poll(async () => (await database.query(cut, [wallet])).rowCount).toBe(1);
    expect(await client.runAgent({ task })).toContain(slowAnswer('cut off'));
    expect(await costsOf(renter)).toEqual([PRICE]);
    // That answer was read: the next call is another run.
    await client.runAgent({ task });
    expect(await costsOf(renter)).toEqual([PRICE, PRICE]);
  }, 120_000);

  test('pays for each of two equal calls that begin together [RUN-24]', async ({ expect }) => {
    const renter = await newRenter();
    const client = await openSession(renter);
    const task = slowTask(300, 'twice');
    const both = await Promise.all([client.runAgent({ task }), client.runAgent({ task })]);
    for (const answer of both) expect(answer).toContain(slowAnswer('twice'));
    expect(await costsOf(renter)).toEqual([PRICE, PRICE]);
  }, 120_000);

  test('is told early also where its calls are streamed, with signs of life [ADP-19]', async ({ expect }) => {
    const renter = await newRenter();
    const client = await openSession(renter);
    // As clients call that want to hear of the progress.
    const meta = { progressToken: 1 };
    await client.giveUpOn('first stream', meta);
    expect(await client.runAgent({ task: heldTask('first stream') }, meta)).toMatch(/is still running/);
    // Another task, whose first call begins a run of its own.
    expect(await client.runAgent({ task: heldTask('other stream') }, meta)).toMatch(/is still running/);
    for (const name of ['first stream', 'other stream']) agents.release(name);
    await expect.poll(() => costsOf(renter), { timeout: 30_000 }).toEqual([PRICE, PRICE]);
  }, 120_000);

  test('at the time at which it gave up before gets the run that it paid for, and its next call is answered before that [RUN-25, ADP-19]', async ({
    expect,
  }) => {
    const renter = await newRenter();
    const client = await openSession(renter);
    const caller = `wallet:${renter.wallet.publicKey.toBase58()}`;
    await database.query(
      `insert into call_give_ups (caller, elapsed_ms, given_up_at) select $1, ms, now() - interval '1 hour' from unnest($2::int[]) ms`,
      [caller, EARLIER_TIMES_MS],
    );
    await client.cancel('kept', SHORTEST_TIMEOUT_MS);
    // The server remembers this time as well, and knows one of them twice.
    const recent = `select from call_give_ups where caller = $1 and given_up_at > now() - interval '10 minutes'`;
    await expect.poll(async () => (await database.query(recent, [caller])).rowCount).toBe(1);
    expect(await client.runAgent({ task: heldTask('third') })).toMatch(/is still running/);
    expect(await statesOf(renter)).toEqual(['running', 'running']);
    expect(await client.runAgent({ task: heldTask('kept') })).toMatch(/begun \d+ s ago by an equal call/);
    for (const name of ['kept', 'third']) agents.release(name);
    await expect.poll(() => statesOf(renter), { timeout: 30_000 }).toEqual(['completed', 'completed']);
    expect(await costsOf(renter)).toEqual([PRICE, PRICE]);
  }, 120_000);

  test('or that cancels at another time stops its run [RUN-25]', async ({ expect }) => {
    const renter = await newRenter();
    const client = await openSession(renter);
    await client.cancel('unwanted', 0);
    await expect.poll(() => statesOf(renter), { timeout: 20_000 }).toEqual(['failed']);
  }, 120_000);
});
