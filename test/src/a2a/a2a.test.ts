import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { TaskState, type AgentCard, verifyAgentCardSignature } from '@a2a-js/sdk';
import { importJWK, type JWK } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
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
import { newParticipant, type Participant } from '../support/participant.js';
import { startPushReceiver, type PushReceiver } from './push-receiver.js';
import {
  asTask,
  connect,
  eventsOf,
  message,
  outputOf,
  part,
  stateOf,
  textOf,
  textOfState,
} from './a2a-client.js';

let agents: SlowAgents;
let receiver: PushReceiver;
let stateDir: string;
let marketplace: OwnMarketplace;
let agentId: string;
let failingId: string;
let url: string;

beforeAll(async () => {
  agents = await startSlowAgents();
  receiver = await startPushReceiver();
  stateDir = await newStateDir();
  marketplace = await startMarketplace(stateDir, withoutExamples(agents.modelUrl, receiver.origin));
  const creator = await newParticipant(marketplace);
  agentId = await publishAgent(creator, textAgent(agents.modelUrl));
  failingId = await publishAgent(
    creator,
    // It answers in text.
    textAgent(agents.modelUrl, { name: 'failing-agent', output_schema: { type: 'object' } }),
  );
  url = `${marketplace.dev.base_url}/a2a/${agentId}`;
}, 240_000);
afterAll(async () => {
  await marketplace?.stop();
  await agents?.close();
  await receiver?.close();
  await removeStateDir(stateDir);
});

/** A wallet that has paid for some runs. */
async function newRenter(runs = 5): Promise<Participant> {
  const renter = await newParticipant(marketplace);
  if (runs > 0) await rentAgent(renter, agentId, runs);
  return renter;
}

/** What each run of a wallet has cost. */
async function costsOf({ client }: Participant): Promise<number[]> {
  return (await client.listRuns()).runs.map(({ cost_lamports }) => cost_lamports);
}

/** The key of a signature, by the addresses in it. */
async function keyOf(kid: string, jku?: string) {
  const { keys } = (await (await fetch(jku ?? '')).json()) as { keys: JWK[] };
  return importJWK(keys.find((key) => key.kid === kid) ?? {}, 'EdDSA') as Promise<CryptoKey>;
}

describe('cards', () => {
  test('a listing has a card, signed by a published key [ADP-30]', async () => {
    const client = await connect(url, '');
    const card = await client.getAgentCard(undefined, verifyAgentCardSignature(keyOf));
    expect(card).toMatchObject({ name: 'Text agent', description: 'Answers in text.' });
    expect(card.supportedInterfaces.map(({ protocolVersion }) => protocolVersion)).toEqual(['1.0', '0.3']);
    expect(card.capabilities?.extensions[0]?.params).toMatchObject({
      listingId: agentId,
      priceLamports: PRICE,
      inputSchema: { type: 'object' },
      rentUrl: `${marketplace.dev.base_url}/dashboard/rent/${agentId}`,
    });
    // As the protocol says: over the JSON as it was sent.
    const sent = await fetch(`${url}/.well-known/agent-card.json`, { headers: { 'a2a-version': '1.0' } });
    const exact = (await sent.json()) as AgentCard;
    await verifyAgentCardSignature(keyOf)({ ...exact, signatures: exact.signatures.slice(0, 1) });
    const changed = { ...card, name: 'another' };
    await expect(verifyAgentCardSignature(keyOf)(changed)).rejects.toThrow();
  });

  test('the marketplace has a card, and its agents are found by it', async () => {
    const { token } = await newRenter(0);
    const client = await connect(marketplace.dev.base_url, token);
    const answer = await client.sendMessage(message('text agent'));
    expect(JSON.stringify(answer)).toContain(agentId);
    const rent = message([part({ $case: 'data', value: { skill: 'rent', agent_id: agentId } })]);
    expect(JSON.stringify(await client.sendMessage(rent))).toContain('rent_url');
  });

  test('an agent that is not on sale has none', async () => {
    const answer = await fetch(`${marketplace.dev.base_url}/a2a/none-aaaaaa/.well-known/agent-card.json`);
    expect(answer.status).toBe(404);
  });
});

describe.each(['1.0', '0.3'] as const)('a client of version %s', (version) => {
  test('runs an agent, and the same message is the same run [ADP-30]', async () => {
    const renter = await newRenter();
    const client = await connect(url, renter.token, version);
    const asked = message(slowTask(0, 'run'), { contextId: 'a-context' });
    const first = asTask(await client.sendMessage(asked));
    const again = asTask(await client.sendMessage(asked));
    expect(client.protocolVersion).toBe(version);
    expect(stateOf(first)).toBe('COMPLETED');
    expect(outputOf(first)).toBe(slowAnswer('run'));
    expect(again.id).toBe(first.id);
    expect(await costsOf(renter)).toEqual([PRICE]);
    const read = await client.getTask({ tenant: '', id: first.id });
    expect(read).toMatchObject({ id: first.id, contextId: 'a-context' });
  });

  test('streams the output of a run [ADP-30]', async () => {
    const renter = await newRenter();
    const client = await connect(url, renter.token, version);
    const events = await eventsOf(client.sendMessageStream(message(slowTask(200, 'stream'))));
    const [first, ...rest] = events.map(({ payload }) => payload);
    expect(first?.$case).toBe('task');
    const pieces = rest.flatMap((payload) => (payload?.$case === 'artifactUpdate' ? [payload.value] : []));
    expect(pieces.length).toBeGreaterThan(2);
    expect(textOf(pieces.slice(0, -1).flatMap(({ artifact }) => artifact?.parts ?? []))).toBe(
      slowAnswer('stream'),
    );
    // The whole takes the place of the pieces.
    expect(pieces.at(-1)).toMatchObject({ append: false, lastChunk: true });
    expect(textOf(pieces.at(-1)?.artifact?.parts ?? [])).toBe(slowAnswer('stream'));
    const last = rest.at(-1);
    expect(last?.$case === 'statusUpdate' && stateOf(last.value)).toBe('COMPLETED');
    expect(await costsOf(renter)).toEqual([PRICE]);
  });

  test('cancels a run that goes on [ADP-30]', async () => {
    const renter = await newRenter();
    const client = await connect(url, renter.token, version);
    const started = asTask(
      await client.sendMessage(message(heldTask('cancel'), { returnImmediately: true })),
    );
    expect(['SUBMITTED', 'WORKING']).toContain(stateOf(started));
    await agents.reached('cancel');
    const canceled = await client.cancelTask({ tenant: '', id: started.id, metadata: undefined });
    expect(stateOf(canceled)).toBe('CANCELED');
    await expect(client.cancelTask({ tenant: '', id: started.id, metadata: undefined })).rejects.toThrow();
    expect(await costsOf(renter)).toHaveLength(1);
  });

  test('has the end of a run pushed, sets, reads and deletes the config [ADP-30]', async () => {
    const renter = await newRenter();
    const client = await connect(url, renter.token, version);
    const told = `${receiver.origin}/told-${version}`;
    const running = asTask(
      await client.sendMessage(message(heldTask(`push-${version}`), { returnImmediately: true })),
    );
    const config = {
      tenant: '',
      id: 'mine',
      taskId: running.id,
      url: told,
      token: '',
      authentication: { scheme: 'Bearer', credentials: 'of-the-receiver' },
    };
    const named = { tenant: '', taskId: running.id, id: 'mine' };
    expect(await client.createTaskPushNotificationConfig(config)).toMatchObject({ id: 'mine', url: told });
    expect(await client.getTaskPushNotificationConfig(named)).toMatchObject({ url: told });
    const listed = { tenant: '', taskId: running.id, pageSize: 10, pageToken: '' };
    expect((await client.listTaskPushNotificationConfig(listed)).configs).toHaveLength(1);
    await expect(client.createTaskPushNotificationConfig({ ...config, id: 'other' })).rejects.toThrow();
    await client.cancelTask({ tenant: '', id: running.id, metadata: undefined });
    expect(await receiver.next()).toEqual({
      path: `/told-${version}`,
      authorization: 'Bearer of-the-receiver',
      taskId: running.id,
      state: version === '1.0' ? 'TASK_STATE_CANCELED' : 'canceled',
    });
    await client.deleteTaskPushNotificationConfig(named);
    await client.deleteTaskPushNotificationConfig(named);
    await expect(client.getTaskPushNotificationConfig(named)).rejects.toThrow();

    // With the message: the run may end before its config is stored.
    const asked = message(slowTask(0, 'with-push'));
    const told2 = { ...config, id: '', taskId: '', authentication: undefined, token: 'a-token' };
    if (asked.configuration) asked.configuration.taskPushNotificationConfig = told2;
    const done = asTask(await client.sendMessage(asked));
    expect(await receiver.next()).toMatchObject({
      token: 'a-token',
      taskId: done.id,
      state: version === '1.0' ? 'TASK_STATE_COMPLETED' : 'completed',
    });
  });

  test('follows a run that another message began [ADP-30]', async () => {
    const renter = await newRenter();
    const client = await connect(url, renter.token, version);
    const name = `follow ${version}`;
    const started = asTask(await client.sendMessage(message(heldTask(name), { returnImmediately: true })));
    await agents.reached(name);
    const stream = client.resubscribeTask({ tenant: '', id: started.id });
    const first = await stream.next();
    expect(first.value?.payload?.$case).toBe('task');
    agents.release(name);
    const last = (await eventsOf(stream)).at(-1)?.payload;
    expect(last?.$case === 'statusUpdate' && stateOf(last.value)).toBe('COMPLETED');
    expect(await costsOf(renter)).toEqual([PRICE]);
  });

  test('is told that an agent failed, and pays for it once', async () => {
    const renter = await newRenter();
    await rentAgent(renter, failingId, 5);
    const client = await connect(`${marketplace.dev.base_url}/a2a/${failingId}`, renter.token, version);
    const failed = asTask(await client.sendMessage(message(slowTask(0, 'failure'))));
    expect(stateOf(failed)).toBe('FAILED');
    expect(textOfState(failed)).not.toBe('');
    expect(await costsOf(renter)).toEqual([PRICE]);
  });

  test('is told where to pay for an agent that it has not rented, and the same message runs after it [ADP-31]', async () => {
    const renter = await newRenter(0);
    const client = await connect(url, renter.token, version);
    const asked = message(slowTask(0, 'rented'));
    const waiting = asTask(await client.sendMessage(asked));
    expect(stateOf(waiting)).toBe('AUTH_REQUIRED');
    expect(textOfState(waiting)).toContain(`/dashboard/rent/${agentId}`);
    expect(stateOf(await client.getTask({ tenant: '', id: waiting.id }))).toBe('AUTH_REQUIRED');
    expect(await costsOf(renter)).toEqual([]);
    await rentAgent(renter, agentId, 5);
    expect(stateOf(await client.getTask({ tenant: '', id: waiting.id }))).toBe('REJECTED');
    expect(outputOf(asTask(await client.sendMessage(asked)))).toBe(slowAnswer('rented'));
    expect(await costsOf(renter)).toEqual([PRICE]);
  });

  test('is told where to pay once the balance is used up [ADP-31]', async () => {
    const renter = await newRenter(1);
    const client = await connect(url, renter.token, version);
    await client.sendMessage(message(slowTask(0, 'last')));
    const [event] = await eventsOf(client.sendMessageStream(message(slowTask(0, 'one more'))));
    const task = event?.payload?.$case === 'task' ? event.payload.value : undefined;
    expect(stateOf(task)).toBe('AUTH_REQUIRED');
    expect(await costsOf(renter)).toEqual([PRICE]);
  });
});

test('data and text files are the input; several are refused with a reason', async () => {
  const renter = await newRenter();
  const client = await connect(url, renter.token);
  const text = part({ $case: 'text', value: slowTask(0, 'data') });
  const data = part({ $case: 'data', value: { a: 1 } });
  expect(stateOf(asTask(await client.sendMessage(message([text, data]))))).toBe('COMPLETED');
  await expect(client.sendMessage(message([text, data, data]))).rejects.toThrow(/several data parts/);
  await expect(client.sendMessage(message([]))).rejects.toThrow(/Say the task/);
  // The agent takes objects alone.
  const file = part({ $case: 'raw', value: Buffer.from('a text') }, 'text/plain');
  const refused = client.sendMessage(message([text, file]));
  await expect(refused).rejects.toMatchObject({ name: 'ContentTypeNotSupportedError' });
  expect(await costsOf(renter)).toEqual([PRICE]);
});

test('another wallet finds no task', async () => {
  const [renter, other] = [await newRenter(), await newRenter(0)];
  const client = await connect(url, renter.token);
  const { id } = asTask(await client.sendMessage(message(slowTask(0, 'mine'))));
  const stranger = await connect(url, other.token);
  await expect(stranger.getTask({ tenant: '', id })).rejects.toThrow(/no task/);
  await expect(stranger.cancelTask({ tenant: '', id, metadata: undefined })).rejects.toThrow(/no task/);
  const config = {
    tenant: '',
    id: '',
    taskId: id,
    url: receiver.origin,
    token: '',
    authentication: undefined,
  };
  await expect(stranger.createTaskPushNotificationConfig(config)).rejects.toThrow(/no task/);
  await client.createTaskPushNotificationConfig(config);
  await expect(stranger.getTaskPushNotificationConfig(config)).rejects.toThrow(/no task/);
  await receiver.next();
});

test('the marketplace runs an agent by its skill, and lists the tasks of the caller', async () => {
  const renter = await newRenter();
  const client = await connect(marketplace.dev.base_url, renter.token);
  const value = { skill: 'run', agent_id: agentId, task: slowTask(0, 'skill') };
  const task = asTask(await client.sendMessage(message([part({ $case: 'data', value })])));
  expect(outputOf(task)).toBe(slowAnswer('skill'));
  const status = TaskState.TASK_STATE_UNSPECIFIED;
  const all = { tenant: '', contextId: '', status, pageToken: '', statusTimestampAfter: undefined };
  const listed = async (asked: object) => (await client.listTasks({ ...all, ...asked })).tasks;
  expect((await listed({})).map(({ id, artifacts }) => [id, artifacts])).toEqual([[task.id, []]]);
  expect((await listed({ includeArtifacts: true })).map(outputOf)).toEqual([slowAnswer('skill')]);
  expect(await listed({ contextId: 'another' })).toEqual([]);
  expect(await listed({ status: TaskState.TASK_STATE_FAILED })).toEqual([]);
});

test('the program of docs/a2a.md runs an agent', async () => {
  const { token } = await newRenter();
  const page = await readFile(new URL('../../../docs/a2a.md', import.meta.url), 'utf8');
  const program = /```js\n([^]*?)```/.exec(page)?.[1] ?? '';
  const args = ['--input-type=module', '-e', program, '--', 'program.mjs', url, token, slowTask(0, 'docs')];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: import.meta.dirname });
  expect(stdout).toContain(slowAnswer('docs'));
});

test('a stream that its reader leaves goes on, and is charged once', async () => {
  const renter = await newRenter();
  const client = await connect(url, renter.token);
  const stream = client.sendMessageStream(message(heldTask('left')));
  const first = stream.next();
  await agents.reached('left');
  // It has been paid, and has no output yet.
  expect((await first).value?.payload?.$case).toBe('task');
  await stream.return();
  agents.release('left');
  await expect
    .poll(async () => (await renter.client.listRuns()).runs.map(({ status }) => status))
    .toEqual(['completed']);
  expect(await costsOf(renter)).toEqual([PRICE]);
});

test.each([
  ['a request without a bearer', {}, '{}', 401],
  ['text that is no JSON', { bearer: true }, '{', 400],
])('%s is refused in the form of the protocol', async (_, { bearer }: { bearer?: boolean }, body, status) => {
  const { token } = await newRenter(0);
  const headers = { 'content-type': 'application/json', ...(bearer && { authorization: `Bearer ${token}` }) };
  const answer = await fetch(url, { method: 'POST', headers, body });
  expect(answer.status).toBe(status);
  expect(await answer.json()).toMatchObject({
    jsonrpc: '2.0',
    id: null,
    error: { code: expect.any(Number) as unknown },
  });
});

test.each([
  'http://169.254.169.254/latest',
  'https://10.0.0.1/',
  'http://localhost:1/',
  'file:///etc/passwd',
])('a push to %s is refused before anything runs', async (address) => {
  const renter = await newRenter();
  const client = await connect(url, renter.token);
  const asked = message('task');
  const config = { tenant: '', id: '', taskId: '', url: address, token: '', authentication: undefined };
  if (asked.configuration) asked.configuration.taskPushNotificationConfig = config;
  await expect(client.sendMessage(asked)).rejects.toThrow(/url/);
  expect(await costsOf(renter)).toEqual([]);
});
