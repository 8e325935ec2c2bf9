import { afterAll, beforeAll, expect, test } from 'vitest';
import { taskClient } from '../../../packages/mcp-server/dist/testing/task-client.js';
import { PRICE, publishAgent, rentAgent, textAgent } from '../support/agents/agents.js';
import { IS_QUICK } from '../support/form.js';
import { slowAnswer, slowTask, startSlowAgents, type SlowAgents } from '../support/agents/slow-agents.js';
import {
  newStateDir,
  removeStateDir,
  startMarketplace,
  type OwnMarketplace,
  withoutExamples,
} from '../support/marketplace.js';
import { newParticipant, type Participant } from '../support/participant.js';

let agents: SlowAgents;
let stateDir: string;
let marketplace: OwnMarketplace;
let agentId: string;
let renter: Participant;

const start = () => startMarketplace(stateDir, withoutExamples(agents.modelUrl));

beforeAll(async () => {
  agents = await startSlowAgents();
  stateDir = await newStateDir();
  marketplace = await start();
  agentId = await publishAgent(await newParticipant(marketplace), textAgent(agents.modelUrl));
  renter = await newParticipant(marketplace);
  await rentAgent(renter, agentId, 10);
}, 240_000);
afterAll(async () => {
  await marketplace?.stop();
  await agents?.close();
  await removeStateDir(stateDir);
});

const clientOf = ({ token }: Pick<Participant, 'token'>) =>
  taskClient(`${marketplace.dev.base_url}/mcp`, token);

async function costs(): Promise<number[]> {
  const answer = await fetch(`${marketplace.dev.base_url}/v1/runs`, {
    headers: { authorization: `Bearer ${renter.token}` },
  });
  const { runs } = (await answer.json()) as { runs: { cost_lamports: number }[] };
  return runs.map(({ cost_lamports }) => cost_lamports);
}

async function begin(task: string): Promise<string> {
  const call = { name: 'run_agent', arguments: { agent_id: agentId, task } };
  const { result } = await clientOf(renter)('tools/call', call);
  expect(result).toMatchObject({ resultType: 'task', status: 'working' });
  return result!.taskId!;
}

test.skipIf(IS_QUICK)(
  'an MCP task is a run: charged once, its result there for its wallet alone, also after a restart [ADP-20]',
  async () => {
    const taskId = await begin(slowTask(3_000, 'task'));
    const stranger = await newParticipant(marketplace);
    expect((await clientOf(stranger)('tasks/get', { taskId })).error).toMatchObject({ code: -32_602 });
    const statusNow = async () => (await clientOf(renter)('tasks/get', { taskId })).result?.status;
    expect(await statusNow()).toBe('working');
    await expect.poll(statusNow, { timeout: 30_000 }).toBe('completed');
    await marketplace.stop();
    marketplace = await start();
    const { result } = await clientOf(renter)('tasks/get', { taskId });
    expect(result).toMatchObject({ status: 'completed' });
    expect(result?.result?.content[0]?.text).toContain(slowAnswer('task'));
    expect(await costs()).toEqual([PRICE]);
  },
  240_000,
);

test.skipIf(IS_QUICK)(
  'an MCP task that is cancelled stops its run, by the rules of a run [ADP-20]',
  async () => {
    const taskId = await begin(slowTask(60_000, 'stop'));
    const ack = await clientOf(renter)('tasks/cancel', { taskId });
    expect(ack.result).toMatchObject({ resultType: 'complete' });
    await expect
      .poll(async () => (await clientOf(renter)('tasks/get', { taskId })).result?.status, { timeout: 30_000 })
      .toBe('cancelled');
  },
  120_000,
);
