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
import { pythonInFullForm, runPython } from '../support/toolchains/python-environment.js';

const file = (name: string) => fileURLToPath(new URL(`../../src/a2a/python/${name}`, import.meta.url));
const environment = await pythonInFullForm(file('requirements.txt'));
const adk = await pythonInFullForm(file('adk-requirements.txt'));

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
  'the Python SDK runs, streams, cancels, hears by a push, and is told to pay [ADP-30]',
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

test.skipIf('missing' in adk)('ADK runs a rented agent as its remote agent [ADP-30]', async () => {
  if ('missing' in adk) return;
  const [creator, renter] = [await newParticipant(marketplace), await newParticipant(marketplace)];
  const id = await publishAgent(creator, textAgent(agents.modelUrl, { name: 'adk-agent' }));
  await rentAgent(renter, id, 5);
  const url = `${marketplace.dev.base_url}/a2a/${id}`;
  const job = { token: renter.token, url, task: slowTask(100, 'adk') };
  const { events } = (await runPython(adk.python, file('adk_client.py'), job)) as {
    events: { text: string; error: string | null; partial: boolean }[];
  };
  const text = slowAnswer('adk');
  expect(events.filter(({ error }) => error !== null)).toEqual([]);
  const [whole, partial] = [
    events.filter((event) => !event.partial),
    events.filter((event) => event.partial),
  ];
  expect(whole.map((event) => event.text).join('')).toBe(text);
  expect(partial.map((event) => event.text).join('')).toBe(text);
  const { runs } = await renter.client.listRuns();
  expect(runs.map(({ cost_lamports }) => cost_lamports)).toEqual([PRICE]);
});
