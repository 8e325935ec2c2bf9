import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PRICE, publishAgent, rentAgent, textAgent } from '../support/agents/agents.js';
import {
  heldTask,
  slowAnswer,
  slowTask,
  startSlowAgents,
  type SlowAgents,
} from '../support/agents/slow-agents.js';
import {
  newStateDir,
  removeStateDir,
  startMarketplace,
  withoutExamples,
  type OwnMarketplace,
} from '../support/marketplace.js';
import { newParticipant } from '../support/participant.js';
import { startPushReceiver, type PushReceiver } from './push-receiver.js';
import { sampleOf } from '../support/form.js';
import {
  pythonInFullForm,
  runPython,
  type PythonEnvironment,
} from '../support/toolchains/python-environment.js';

const file = (name: string) => fileURLToPath(new URL(`../../src/a2a/python/${name}`, import.meta.url));
const CLIENTS = ['requirements.txt', 'adk-requirements.txt', 'agent-framework-requirements.txt'];
/** The clients of this run: in CI one of the three. */
const played = sampleOf(CLIENTS, 1);
const environmentOf = async (name: string): Promise<PythonEnvironment> =>
  played.includes(name) ? pythonInFullForm(file(name)) : { missing: 'not played' };
const environment = await environmentOf('requirements.txt');
const adk = await environmentOf('adk-requirements.txt');
const microsoft = await environmentOf('agent-framework-requirements.txt');

let agents: SlowAgents;
let receiver: PushReceiver;
let stateDir: string;
let marketplace: OwnMarketplace;

beforeAll(async () => {
  agents = await startSlowAgents();
  receiver = await startPushReceiver();
  stateDir = await newStateDir();
  marketplace = await startMarketplace(stateDir, withoutExamples(agents.modelUrl, receiver.origin));
}, 240_000);
afterAll(async () => {
  await marketplace?.stop();
  await agents?.close();
  await receiver?.close();
  await removeStateDir(stateDir);
});

test.skipIf('missing' in environment)(
  'the Python SDK runs, streams, cancels, sets, lists and deletes a push, and is told to pay [ADP-30]',
  async () => {
    if ('missing' in environment) return;
    const [creator, renter] = [await newParticipant(marketplace), await newParticipant(marketplace)];
    const publish = (name: string, fields = {}) =>
      publishAgent(creator, textAgent(agents.modelUrl, { name, ...fields }));
    const rented = await publish('rented-agent');
    // It answers in text.
    const failing = await publish('failing-agent', { output_schema: { type: 'object' } });
    const unpaid = await publish('unpaid-agent');
    await rentAgent(renter, rented, 5);
    await rentAgent(renter, failing, 5);
    const urlOf = (id: string) => `${marketplace.dev.base_url}/a2a/${id}`;
    const seen = await runPython(environment.python, file('client.py'), {
      token: renter.token,
      url: urlOf(rented),
      failing_url: urlOf(failing),
      unpaid_url: urlOf(unpaid),
      task: slowTask(100, 'python'),
      held_task: heldTask('python'),
      push_url: `${receiver.origin}/python`,
    });
    const output = slowAnswer('python');
    expect(await receiver.next()).toEqual({
      path: '/python',
      authorization: 'Bearer of-the-receiver',
      taskId: (seen as { held: string }).held,
      state: 'TASK_STATE_CANCELED',
    });
    expect(seen).toMatchObject({
      push_url: `${receiver.origin}/python`,
      push_configs: [['mine'], []],
      card: {
        name: 'Rented agent',
        supportedInterfaces: [{ protocolVersion: '1.0' }, { protocolVersion: '0.3' }],
      },
      run: { state: 'TASK_STATE_COMPLETED', output, events: 1 },
      stream: { state: 'TASK_STATE_COMPLETED', output },
      cancelled: 'TASK_STATE_CANCELED',
      failed: { state: 'TASK_STATE_FAILED' },
      unpaid: {
        state: 'TASK_STATE_AUTH_REQUIRED',
        message: expect.stringContaining(`/dashboard/rent/${unpaid}`) as string,
      },
    });
    const { runs } = await renter.client.listRuns({ agent_id: rented });
    const completed = runs.filter(({ status }) => status === 'completed');
    expect(completed.map(({ cost_lamports }) => cost_lamports)).toEqual([PRICE, PRICE]);
  },
);

/** Their imports alone take many seconds. */
const FRAMEWORK_TIMEOUT_MS = 180_000;

/** A wallet that has rented agents for the clients of frameworks, and their addresses by name. */
async function newRenter() {
  const [creator, renter] = [await newParticipant(marketplace), await newParticipant(marketplace)];
  const ids: Record<string, string> = {};
  for (const [name, runs] of Object.entries({ rented: 5, failing: 5, low: 1, unpaid: 0 })) {
    // A text is no object: that agent fails.
    const fields = name === 'failing' ? { output_schema: { type: 'object' } } : {};
    ids[name] = await publishAgent(creator, textAgent(agents.modelUrl, { name: `${name}-agent`, ...fields }));
    if (runs > 0) await rentAgent(renter, ids[name], runs);
  }
  const urls = Object.fromEntries(
    Object.entries(ids).map(([name, id]) => [name, `${marketplace.dev.base_url}/a2a/${id}`]),
  );
  return {
    job: { token: renter.token, urls },
    payAt: (name: string) => expect.stringContaining(`/dashboard/rent/${ids[name]}`) as string,
    /** The costs of the runs of each agent, by name. */
    async costs() {
      const costs = Object.entries(ids).map(async ([name, agent_id]) => {
        const { runs } = await renter.client.listRuns({ agent_id });
        return [name, runs.map(({ cost_lamports }) => cost_lamports)] as const;
      });
      return Object.fromEntries(await Promise.all(costs));
    },
  };
}

test.skipIf('missing' in adk)(
  'ADK runs rented agents as its remote agents, streams, cancels, and is told to pay [ADP-30]',
  async () => {
    if ('missing' in adk) return;
    const { job, costs, payAt } = await newRenter();
    const texts = { task: slowTask(100, 'adk'), held_task: heldTask('adk') };
    const seen = (await runPython(adk.python, file('adk_client.py'), { ...job, ...texts })) as {
      run: { text: string; partial: boolean }[];
      cancelled: string[];
    };
    const textOf = (isPartial: boolean) =>
      seen.run.map(({ text, partial }) => (partial === isPartial ? text : '')).join('');
    expect([textOf(true), textOf(false)]).toEqual([slowAnswer('adk'), slowAnswer('adk')]);
    expect(seen.run.filter(({ partial }) => partial).length).toBeGreaterThan(1);
    expect(seen.cancelled.at(-1)).toBe('TASK_STATE_CANCELED');
    expect(seen).toMatchObject({
      failed: { state: 'TASK_STATE_FAILED' },
      unpaid: { state: 'TASK_STATE_AUTH_REQUIRED', told: payAt('unpaid') },
      last: { state: 'TASK_STATE_COMPLETED' },
      low: { state: 'TASK_STATE_AUTH_REQUIRED', told: payAt('low') },
    });
    expect(await costs()).toEqual({ rented: [PRICE, PRICE], failing: [PRICE], low: [PRICE], unpaid: [] });
  },
  FRAMEWORK_TIMEOUT_MS,
);

test.skipIf('missing' in microsoft)(
  'Microsoft’s Agent Framework runs rented agents, streams, cancels, and is told to pay [ADP-30]',
  async () => {
    if ('missing' in microsoft) return;
    const { job, costs, payAt } = await newRenter();
    const texts = { task: slowTask(100, 'framework'), held_task: heldTask('framework') };
    const seen = (await runPython(microsoft.python, file('agent_framework_client.py'), {
      ...job,
      ...texts,
    })) as { stream: { updates: string[] } };
    const output = slowAnswer('framework');
    expect(seen).toMatchObject({
      name: 'Rented agent',
      run: output,
      stream: { text: output },
      cancelled: 'TASK_STATE_CANCELED',
      unpaid: { text: payAt('unpaid') },
      last: output,
      low: { text: payAt('low') },
    });
    // The whole output comes last.
    expect(seen.stream.updates.slice(0, -1).join('')).toBe(output);
    expect(seen.stream.updates.length).toBeGreaterThan(2);
    expect(await costs()).toEqual({
      rented: [PRICE, PRICE, PRICE],
      failing: [PRICE],
      low: [PRICE],
      unpaid: [],
    });
  },
  FRAMEWORK_TIMEOUT_MS,
);
