import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { taskClient } from '../../../packages/mcp-server/dist/testing/task-client.js';
import { OFFICIAL_CLIENTS, type Seen } from './mcp-clients/official-clients.js';
import { PRICE, publishAgent, rentAgent, textAgent } from '../support/agents/agents.js';
import {
  newStateDir,
  removeStateDir,
  startMarketplace,
  type OwnMarketplace,
  withoutExamples,
} from '../support/marketplace.js';
import { FORM, IS_QUICK } from '../support/form.js';
import { newParticipant, type Participant } from '../support/participant.js';
import {
  heldTask,
  slowAnswer,
  slowTask,
  startSlowAgents,
  type SlowAgents,
} from '../support/agents/slow-agents.js';

/** The clients' default timeouts. */
const CLIENT_TIMEOUT_MS = 60_000;
const DEFAULT_WAIT_MS = 45_000;
const CLIENTS = Object.keys(OFFICIAL_CLIENTS);

let agents: SlowAgents;
let stateDir: string;
let marketplace: OwnMarketplace;
let agentId: string;
const parties: Record<string, Participant> = {};

const env = () => withoutExamples(agents.modelUrl);
const SHORT_WAIT = { MCP_WAIT_SECONDS: '2' };
/** The other forms wait for the short time alone. */
const IS_FULL = FORM === 'full';

beforeAll(async () => {
  agents = await startSlowAgents();
  stateDir = await newStateDir();
  marketplace = await startMarketplace(stateDir, { ...env(), ...(IS_FULL ? {} : SHORT_WAIT) });
  const creator = await newParticipant(marketplace);
  agentId = await publishAgent(creator, textAgent(agents.modelUrl, { timeout_seconds: 300 }));
  for (const name of CLIENTS) {
    const party = await newParticipant(marketplace);
    await rentAgent(party, agentId, 10);
    parties[name] = party;
  }
}, 240_000);
afterAll(async () => {
  await marketplace?.stop();
  await agents?.close();
  await removeStateDir(stateDir);
});

const runIdOf = (seen: Seen) => seen['_meta']?.['agent-rental/run']?.run_id ?? '';

/** Calls an agent over HTTP, and then polls its result. A held task is released after the call's first answer. */
async function callAndFetch(name: string, task: string) {
  const { token = '' } = parties[name] ?? {};
  const client = await OFFICIAL_CLIENTS[name]!({ url: `${marketplace.dev.base_url}/mcp`, token });
  onTestFinished(client.close);
  const started = performance.now();
  const told = await client.call('run_agent', { agent_id: agentId, task }, CLIENT_TIMEOUT_MS);
  const toldMs = performance.now() - started;
  if (task === heldTask(name)) agents.release(name);
  let result: Seen;
  do {
    result = await client.call('get_run', { run_id: runIdOf(told) }, CLIENT_TIMEOUT_MS);
  } while (/is still running/.test(result.content[0]?.text ?? ''));
  const { runs } = await marketplaceRuns(token);
  return { told: told.content[0]?.text ?? '', toldMs, result: result.content[0]?.text, runs };
}

async function marketplaceRuns(token: string): Promise<{ runs: { cost_lamports: number }[] }> {
  const answer = await fetch(`${marketplace.dev.base_url}/v1/runs`, {
    headers: { authorization: `Bearer ${token}` },
  });
  return (await answer.json()) as { runs: { cost_lamports: number }[] };
}

describe('over HTTP', () => {
  test.runIf(IS_FULL)(
    'an agent that outlives the 60 s of a client: it gets its result in the end, charged once [ADP-9]',
    async () => {
      const seen = await Promise.all(
        CLIENTS.map((name) => callAndFetch(name, slowTask(CLIENT_TIMEOUT_MS + 5_000, name))),
      );
      for (const [index, { told, toldMs, result, runs }] of seen.entries()) {
        expect(told).toMatch(/is still running/);
        expect(toldMs).toBeGreaterThanOrEqual(DEFAULT_WAIT_MS);
        expect(toldMs).toBeLessThan(CLIENT_TIMEOUT_MS);
        expect(result).toBe(slowAnswer(CLIENTS[index] ?? ''));
        expect(runs.map(({ cost_lamports }) => cost_lamports)).toEqual([PRICE]);
      }
    },
    240_000,
  );

  test('a call waits for as long as MCP_WAIT_SECONDS says, and its client gets the result in the end, charged once [ADP-9]', async () => {
    if (IS_FULL) {
      await marketplace.stop();
      marketplace = await startMarketplace(stateDir, { ...env(), ...SHORT_WAIT });
    }
    const seen = await Promise.all(CLIENTS.map((name) => callAndFetch(name, heldTask(name))));
    for (const [index, { told, toldMs, result, runs }] of seen.entries()) {
      expect(told).toMatch(/is still running/);
      expect(toldMs).toBeGreaterThanOrEqual(2_000);
      expect(toldMs).toBeLessThan(DEFAULT_WAIT_MS);
      expect(result).toBe(slowAnswer(CLIENTS[index] ?? ''));
      expect(runs.map(({ cost_lamports }) => cost_lamports)).toEqual(IS_FULL ? [PRICE, PRICE] : [PRICE]);
    }
  }, 240_000);
});

describe.skipIf(IS_QUICK)('an MCP task', () => {
  let renter: Participant;
  beforeAll(async () => {
    renter = await newParticipant(marketplace);
    await rentAgent(renter, agentId, 10);
  });

  const clientOf = ({ token }: Pick<Participant, 'token'>) =>
    taskClient(`${marketplace.dev.base_url}/mcp`, token);

  async function begin(task: string): Promise<string> {
    const call = { name: 'run_agent', arguments: { agent_id: agentId, task } };
    const { result } = await clientOf(renter)('tools/call', call);
    expect(result).toMatchObject({ resultType: 'task', status: 'working' });
    return result!.taskId!;
  }

  test('is a run: charged once, its result there for its wallet alone, also after a restart [ADP-20]', async () => {
    const taskId = await begin(slowTask(3_000, 'task'));
    const stranger = await newParticipant(marketplace);
    expect((await clientOf(stranger)('tasks/get', { taskId })).error).toMatchObject({ code: -32_602 });
    const statusNow = async () => (await clientOf(renter)('tasks/get', { taskId })).result?.status;
    expect(await statusNow()).toBe('working');
    await expect.poll(statusNow, { timeout: 30_000 }).toBe('completed');
    await marketplace.stop();
    marketplace = await startMarketplace(stateDir, { ...env(), ...SHORT_WAIT });
    const { result } = await clientOf(renter)('tasks/get', { taskId });
    expect(result).toMatchObject({ status: 'completed' });
    expect(result?.result?.content[0]?.text).toContain(slowAnswer('task'));
    const { runs } = await marketplaceRuns(renter.token);
    expect(runs.map(({ cost_lamports }) => cost_lamports)).toEqual([PRICE]);
  }, 240_000);

  test('that is cancelled stops its run, by the rules of a run [ADP-20]', async () => {
    const taskId = await begin(slowTask(60_000, 'stop'));
    const ack = await clientOf(renter)('tasks/cancel', { taskId });
    expect(ack.result).toMatchObject({ resultType: 'complete' });
    await expect
      .poll(async () => (await clientOf(renter)('tasks/get', { taskId })).result?.status, { timeout: 30_000 })
      .toBe('cancelled');
  }, 120_000);
});
