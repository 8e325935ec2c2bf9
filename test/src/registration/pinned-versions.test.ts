import { randomUUID } from 'node:crypto';
import { createClient, isApiError } from '@agent-rental/sdk';
import { createApiKey, rent, updateAgent } from '@agent-rental/sdk/solana';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { jobEnd, PRICE, publishAgent, textAgent } from '../support/agents/agents.js';
import { startModelStandIn, type ModelStandIn } from '../support/agents/model-stand-in.js';
import { call } from '../support/http.js';
import {
  newStateDir,
  removeStateDir,
  startMarketplace,
  type OwnMarketplace,
  withoutExamples,
} from '../support/marketplace.js';
import { newParticipant, type Participant } from '../support/participant.js';

const SECOND = {
  description: 'Reads pages.',
  system_prompt: 'The second.',
  input_schema: { type: 'object', properties: { url: { type: 'string' } }, required: ['url'] },
};

let model: ModelStandIn;
let stateDir: string;
let marketplace: OwnMarketplace;
let creator: Participant;

beforeAll(async () => {
  model = await startModelStandIn();
  stateDir = await newStateDir();
  marketplace = await startMarketplace(stateDir, withoutExamples(model.baseUrl));
  creator = await newParticipant(marketplace);
}, 120_000);

afterAll(async () => {
  await model?.close();
  await marketplace?.stop();
  await removeStateDir(stateDir);
});

async function update(id: string, changes: Record<string, unknown>): Promise<void> {
  const { job_id } = await creator.client.updateAgent(id, changes);
  expect(await jobEnd(creator.client, job_id)).toMatchObject({ status: 'completed' });
}

/** A published agent, and so many renters of it. */
async function rentedAgent(renters: number) {
  const manifest = textAgent(model.baseUrl, {
    system_prompt: 'The first.',
    input_schema: { type: 'object', properties: { text: { type: 'string' } } },
  });
  const id = await publishAgent(creator, manifest);
  const parties: Participant[] = [];
  for (let made = 0; made < renters; made += 1) {
    const party = await newParticipant(marketplace);
    await rent(party.client, party.signer, id, { deposit_lamports: 20 * PRICE });
    parties.push(party);
  }
  return { id, parties };
}

/** Runs it, and gives the prompt of the version that ran. */
async function promptOf(
  { client }: Pick<Participant, 'client'>,
  id: string,
  input: Record<string, string>,
  version?: number,
): Promise<{ prompt: unknown; runId: string }> {
  const running = client.execute(
    { agent_id: id, task: 'answer', input, ...(version === undefined ? {} : { version }) },
    { idempotencyKey: randomUUID() },
  );
  const asked = await model.nextCall();
  asked.answer('done');
  const { run_id: runId } = await running;
  const { messages } = JSON.parse(asked.body) as { messages: { role: string; content: unknown }[] };
  return { prompt: messages.find(({ role }) => role === 'system')?.content, runId };
}

/** The definition of its tool, as bytes that renters' tools get. */
async function definition({ token }: Pick<Participant, 'token'>, id: string): Promise<string> {
  const { body } = await call(marketplace, 'GET', '/v1/tools?format=mcp', { token });
  const found = (body['tools'] as Record<string, unknown>[]).find((tool) =>
    JSON.stringify(tool).includes(id),
  );
  return JSON.stringify(found);
}

const refusalOf = async (work: Promise<unknown>) => {
  const error: unknown = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!isApiError(error)) throw new Error('It was not refused.', { cause: error });
  return error;
};

describe('after a breaking update', () => {
  test('a renter pinned to version 1 has byte-equal definitions and version 1’s answers; another one is told until its next use [REG-90]', async () => {
    const { id, parties } = await rentedAgent(2);
    const [pinned, other] = parties as [Participant, Participant];
    const before = await definition(pinned, id);
    expect(await pinned.client.pinVersion(id, 1)).toEqual({
      listing_id: id,
      scope: 'wallet',
      pinned_version: 1,
      latest_version: 1,
    });
    await promptOf(other, id, { text: 'x' });
    await update(id, SECOND);

    expect(await definition(pinned, id)).toBe(before);
    expect((await promptOf(pinned, id, { text: 'x' })).prompt).toBe('The first.');
    expect(await pinned.client.getListing(id)).toMatchObject({ version: 1 });
    expect((await pinned.client.listCredentials({})).credentials[0]).toMatchObject({ pinned_version: 1 });

    const told = await definition(other, id);
    expect(told).toContain('Changed since your last use, version 1 to 2, breaking');
    expect((await other.client.listCredentials({})).credentials[0]).toMatchObject({
      update: { from_version: 1, version: 2, kind: 'breaking' },
    });
    const { prompt, runId } = await promptOf(other, id, { url: 'x' });
    expect(prompt).toBe('The second.');
    expect((await other.client.getReceipt(runId)).receipt).toMatchObject({
      version: 2,
      agent_version: 2,
      version_change: 'breaking',
    });
    expect(await definition(other, id)).not.toContain('Changed since');

    await pinned.client.pinVersion(id, null);
    expect((await promptOf(pinned, id, { url: 'x' })).prompt).toBe('The second.');
  });

  test('a pin of an API key is of its calls alone, and wins over the pin of its wallet [REG-90]', async () => {
    const { id, parties } = await rentedAgent(1);
    const [party] = parties as [Participant];
    const { key: apiKey } = await createApiKey(party.client, party.signer, 'pinned');
    const byKey = { client: createClient({ baseUrl: marketplace.dev.base_url, apiKey, retries: 0 }) };
    expect(await byKey.client.pinVersion(id, 1)).toMatchObject({ scope: 'api_key', pinned_version: 1 });
    await update(id, SECOND);
    expect((await promptOf(byKey, id, { text: 'x' })).prompt).toBe('The first.');
    expect((await promptOf(party, id, { url: 'x' })).prompt).toBe('The second.');
    await party.client.pinVersion(id, 2);
    expect((await promptOf(byKey, id, { text: 'x' })).prompt).toBe('The first.');
    // Without a pin, the key has the pin of its wallet.
    expect(await byKey.client.pinVersion(id, null)).toMatchObject({ pinned_version: 2 });
    // The version in a request wins over both.
    expect((await promptOf(byKey, id, { text: 'x' }, 1)).prompt).toBe('The first.');
  });

  test('a pin that cannot be met is refused with the next step, and never replaced [REG-90]', async () => {
    const { id, parties } = await rentedAgent(1);
    const [party] = parties as [Participant];
    const stranger = await newParticipant(marketplace);
    expect(await refusalOf(stranger.client.pinVersion(id, 1))).toMatchObject({
      code: 'credential_not_found',
    });
    expect(await refusalOf(party.client.pinVersion(id, 2))).toMatchObject({ code: 'invalid_request' });
    await party.client.pinVersion(id, 1);
    const entrypoint_url = `${new URL(model.baseUrl).origin}/agent`;
    const changes = { system_prompt: null, entrypoint_url };
    const { job_id } = await updateAgent(creator.client, creator.signer, id, changes);
    expect(await jobEnd(creator.client, job_id)).toMatchObject({ status: 'completed' });
    const refused = await refusalOf(party.client.execute({ agent_id: id, task: 'answer', input: {} }));
    expect(refused.message).toContain(
      'pinned to its version 1, which does not run any more; the latest is 2',
    );
    expect(refused.message).toContain('PUT /v1/credentials/:listing_id/version');
  });
});

describe('run logs', () => {
  test('show a creator why runs failed, by version, without callers, inputs and answers [REG-140]', async () => {
    const { id, parties } = await rentedAgent(1);
    const [party] = parties as [Participant];
    const { runId } = await promptOf(party, id, { text: 'a secret question' });
    const refused = party.client.execute({ agent_id: id, task: 'another secret' });
    void refused.catch(() => undefined);
    (await model.nextCall()).refuse(401, 'Your key is dead.');
    expect(await refusalOf(refused)).toMatchObject({ code: 'service_unavailable' });

    const page = await creator.client.listAgentRuns(id, { limit: 1 });
    expect(page.runs).toEqual([
      expect.objectContaining({
        status: 'undelivered',
        version: 1,
        failure: { class: 'model_refused', http_status: 401, message: 'The model answered 401.' },
      }),
    ]);
    const next = await creator.client.listAgentRuns(id, { limit: 5, cursor: page.next_cursor ?? '' });
    expect(next.runs).toEqual([
      expect.objectContaining({ run_id: runId, status: 'completed', failure: null }),
    ]);
    const all = JSON.stringify([page, next]);
    for (const hidden of ['secret', 'done', 'Your key', party.wallet.publicKey.toBase58()]) {
      expect(all).not.toContain(hidden);
    }
    expect(await refusalOf(party.client.listAgentRuns(id))).toMatchObject({ code: 'listing_not_found' });
  });
});
