import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { PRICE, publishAgent, rentAgent, textAgent } from '../support/agents/agents.js';
import { IS_QUICK } from '../support/form.js';
import {
  newStateDir,
  removeStateDir,
  startMarketplace,
  type OwnMarketplace,
} from '../support/marketplace.js';
import { newParticipant, type Participant } from '../support/participant.js';
import { openRawMcpSession } from '../support/raw-mcp-session.js';
import { slowAnswer, slowTask, startSlowAgents, type SlowAgents } from '../support/agents/slow-agents.js';

/** The shortest default of a client known: that of the OpenAI Agents SDK for Python. */
const CLIENT_TIMEOUT_MS = 5_000;

let agents: SlowAgents;
let stateDir: string;
let marketplace: OwnMarketplace;
let agentId: string;

beforeAll(async () => {
  agents = await startSlowAgents();
  stateDir = await newStateDir();
  marketplace = await startMarketplace(stateDir, { MODEL_BASE_URL: agents.modelUrl, MODEL_NAME: 'stand-in' });
  agentId = await publishAgent(await newParticipant(marketplace), textAgent(agents.modelUrl));
}, 240_000);
afterAll(async () => {
  await marketplace?.stop();
  await agents?.close();
  await removeStateDir(stateDir);
});

/** A client that gives up on a call as some libraries do: it reads no more, says nothing, and leaves its connection open. */
async function openSession({ token }: Pick<Participant, 'token'>) {
  const session = await openRawMcpSession(`${marketplace.dev.base_url}/mcp`, token);
  const givingUp = { afterMs: CLIENT_TIMEOUT_MS, how: 'ignore' } as const;
  const call = (name: string, args: object) => session.call(name, args, givingUp);
  return {
    call,
    cutAtAnswer: (args: object) => session.cutAtAnswer('run_agent', { agent_id: agentId, ...args }),
    /** As clients call that want to hear of the progress. */
    streamedCall: (args: object) =>
      session.call('run_agent', { agent_id: agentId, ...args }, givingUp, { progressToken: 1 }),
    runAgent: (args: object) => call('run_agent', { agent_id: agentId, ...args }),
    cancelledCall: (args: object, ms: number) =>
      session.cancelledCall('run_agent', { agent_id: agentId, ...args }, ms),
  };
}

async function newRenter(): Promise<Participant> {
  const renter = await newParticipant(marketplace);
  await rentAgent(renter, agentId, 10);
  return renter;
}

async function runsOf({ token }: Pick<Participant, 'token'>) {
  const answer = await fetch(`${marketplace.dev.base_url}/v1/runs`, {
    headers: { authorization: `Bearer ${token}` },
  });
  return ((await answer.json()) as { runs: { cost_lamports: number; status: string }[] }).runs;
}
const costsOf = async (renter: Pick<Participant, 'token'>) =>
  (await runsOf(renter)).map(({ cost_lamports }) => cost_lamports);
const statesOf = async (renter: Pick<Participant, 'token'>) =>
  (await runsOf(renter)).map(({ status }) => status);

describe.skipIf(IS_QUICK).concurrent('an MCP client that gives up after 5 s', () => {
  test('and calls again is told in time of the run that goes on, gets its result, and pays once [RUN-24]', async ({
    expect,
  }) => {
    const renter = await newRenter();
    const client = await openSession(renter);
    const task = slowTask(14_000, 'once');
    expect(await client.runAgent({ task })).toBeUndefined();
    const told = await client.runAgent({ task });
    expect(told).toMatch(/Run \S+, begun \d+ s ago by an equal call, is still running/);
    const run_id = /Run (\S+),/.exec(told ?? '')?.[1];
    let result: string | undefined;
    for (let asked = 0; asked < 6 && !result?.includes(slowAnswer('once')); asked += 1) {
      result = await client.call('get_run', { run_id });
      // Each time in the time of the client.
      expect(result).toBeDefined();
    }
    expect(result).toContain(slowAnswer('once'));
    expect(await costsOf(renter)).toEqual([PRICE]);
    // What the client showed is known from then on: its next call is answered in time at once.
    expect(await client.runAgent({ task: slowTask(8_000, 'next') })).toMatch(/is still running/);
  }, 120_000);

  test('and calls again just after the end gets the answer, and another run only if it says so [RUN-24]', async ({
    expect,
  }) => {
    const renter = await newRenter();
    const client = await openSession(renter);
    const task = slowTask(5_600, 'late');
    expect(await client.runAgent({ task })).toBeUndefined();
    await delay(2_500);
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
    await delay(50);
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

  test('by cancelling its call, and calls again, gets the run that it paid for [RUN-25]', async ({
    expect,
  }) => {
    const renter = await newRenter();
    const client = await openSession(renter);
    const task = slowTask(9_000, 'cancelled');
    expect(await client.cancelledCall({ task }, CLIENT_TIMEOUT_MS)).toBeUndefined();
    expect(await client.runAgent({ task })).toMatch(/is still running|done with cancelled/);
    await expect.poll(() => costsOf(renter), { timeout: 20_000 }).toEqual([PRICE]);
  }, 120_000);

  test('is told in time also where its calls are streamed, with signs of life [ADP-19]', async ({
    expect,
  }) => {
    const renter = await newRenter();
    const client = await openSession(renter);
    const first = slowTask(14_000, 'first stream');
    expect(await client.streamedCall({ task: first })).toBeUndefined();
    expect(await client.streamedCall({ task: first })).toMatch(/is still running/);
    // Another task, whose first call begins a run of its own.
    expect(await client.streamedCall({ task: slowTask(8_000, 'other stream') })).toMatch(/is still running/);
    await expect.poll(() => costsOf(renter), { timeout: 30_000 }).toEqual([PRICE, PRICE]);
  }, 120_000);

  test('at the time at which it gave up before leaves its run, and its next call is answered before that [RUN-25, ADP-19]', async ({
    expect,
  }) => {
    const renter = await newRenter();
    const client = await openSession(renter);
    // No whole number of seconds: the first is taken for a person's cancel.
    const oddMs = 3_600;
    await client.cancelledCall({ task: slowTask(30_000, 'odd one') }, oddMs);
    await expect.poll(() => statesOf(renter), { timeout: 20_000 }).not.toContain('running');
    const kept = slowTask(7_000, 'odd two');
    await client.cancelledCall({ task: kept }, oddMs);
    expect(await client.runAgent({ task: slowTask(9_000, 'odd three') })).toMatch(/is still running/);
    await expect
      .poll(() => statesOf(renter), { timeout: 30_000 })
      .toEqual(['completed', 'completed', 'failed']);
  }, 120_000);

  test('or that cancels at another time stops its run [RUN-25]', async ({ expect }) => {
    const renter = await newRenter();
    const client = await openSession(renter);
    await client.cancelledCall({ task: slowTask(60_000, 'unwanted') }, 2_500);
    await expect.poll(() => statesOf(renter), { timeout: 20_000 }).not.toContain('running');
  }, 120_000);
});
