import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PRICE, publishAgent, rentAgent, textAgent } from '../support/agents/agents.js';
import { heldTask, slowAnswer, startSlowAgents, type SlowAgents } from '../support/agents/slow-agents.js';
import { IS_QUICK } from '../support/form.js';
import {
  newStateDir,
  removeStateDir,
  startMarketplace,
  type OwnMarketplace,
  withoutExamples,
} from '../support/marketplace.js';
import { newParticipant, type Participant } from '../support/participant.js';
import { openRawMcpSession, type RawMcpSession } from '../support/raw-mcp-session.js';

/** The grace of a run without a caller. */
const RECONNECT_GRACE_SECONDS = '2';

let agents: SlowAgents;
let stateDir: string;
let marketplace: OwnMarketplace;
let agentId: string;

const openSession = ({ token }: Participant) => openRawMcpSession(`${marketplace.dev.base_url}/mcp`, token);
const runAgent = (session: RawMcpSession, name: string, more = {}) =>
  session.call('run_agent', { agent_id: agentId, task: heldTask(name), ...more });
const runsOf = async ({ client }: Participant) => (await client.listRuns()).runs;
const costsOf = async (renter: Participant) => (await runsOf(renter)).map(({ cost_lamports: cost }) => cost);
const statesOf = async (renter: Participant) => (await runsOf(renter)).map(({ status }) => status);

async function newRenter(): Promise<Participant> {
  const renter = await newParticipant(marketplace);
  await rentAgent(renter, agentId, 10);
  return renter;
}

describe.skipIf(IS_QUICK)('an equal call over MCP', () => {
  beforeAll(async () => {
    agents = await startSlowAgents();
    stateDir = await newStateDir();
    marketplace = await startMarketplace(stateDir, {
      ...withoutExamples(agents.modelUrl),
      RECONNECT_GRACE_SECONDS,
    });
    agentId = await publishAgent(await newParticipant(marketplace), textAgent(agents.modelUrl));
  }, 240_000);
  afterAll(async () => {
    await marketplace?.stop();
    await agents?.close();
    await removeStateDir(stateDir);
  });

  test('while the first one runs gets its answer, says so and pays nothing; new_run pays for another run [RUN-24]', async () => {
    const renter = await newRenter();
    const session = await openSession(renter);
    const first = runAgent(session, 'once');
    await agents.reached('once');
    const second = runAgent(session, 'once');
    await expect.poll(async () => (await runsOf(renter)).length).toBe(1);
    agents.release('once');
    expect(await first).toMatch(/Charged/);
    expect(await second).toMatch(/An equal call started it \d+ s ago\. Nothing was charged for this call\./);
    for (const answer of [await first, await second]) expect(answer).toContain(slowAnswer('once'));
    // After its end, too.
    expect(await runAgent(session, 'once')).toMatch(/An equal call started it/);
    expect(await costsOf(renter)).toEqual([PRICE]);
    expect(await runAgent(session, 'once', { new_run: true })).toMatch(/Charged/);
    expect(await costsOf(renter)).toEqual([PRICE, PRICE]);
  }, 120_000);

  test('of another session is another run [RUN-24]', async () => {
    const renter = await newRenter();
    agents.release('sessions');
    for (let session = 0; session < 2; session += 1) await runAgent(await openSession(renter), 'sessions');
    expect(await costsOf(renter)).toEqual([PRICE, PRICE]);
  }, 120_000);

  test('gets the run of a call that its client cancelled, and is charged once [RUN-25]', async () => {
    const renter = await newRenter();
    const session = await openSession(renter);
    const call = session.cancellableCall('run_agent', { agent_id: agentId, task: heldTask('kept') });
    await agents.reached('kept');
    await call.cancel();
    const again = runAgent(session, 'kept');
    agents.release('kept');
    expect(await again).toContain(slowAnswer('kept'));
    expect(await costsOf(renter)).toEqual([PRICE]);
  }, 120_000);

  test('gets the answer that was cut off before its client read it [RUN-24]', async () => {
    const renter = await newRenter();
    const session = await openSession(renter);
    agents.release('cut off');
    await session.cutAtAnswer('run_agent', { agent_id: agentId, task: heldTask('cut off') });
    expect(await runAgent(session, 'cut off')).toContain(slowAnswer('cut off'));
    expect(await costsOf(renter)).toEqual([PRICE]);
  }, 120_000);

  test('that does not come leaves a cancelled run to stop after its grace [RUN-25]', async () => {
    const renter = await newRenter();
    const session = await openSession(renter);
    const call = session.cancellableCall('run_agent', { agent_id: agentId, task: heldTask('unwanted') });
    await agents.reached('unwanted');
    await call.cancel();
    await expect.poll(() => statesOf(renter), { timeout: 20_000 }).toEqual(['failed']);
  }, 120_000);
});
