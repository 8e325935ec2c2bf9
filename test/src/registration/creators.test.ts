import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createAgentHandler } from '@agent-rental/sdk/creator';
import { isApiError } from '@agent-rental/sdk';
import {
  publish,
  rent,
  rotateWebhookSecret,
  setModelKey,
  update as updateOnChain,
  updateAgent,
  withdraw,
} from '@agent-rental/sdk/solana';
import { updateListing } from '@agent-rental/program-client';
import { Connection, TransactionMessage, VersionedTransaction } from '@solana/web3.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { jobEnd, publishAgent, textAgent } from '../support/agents/agents.js';
import {
  newStateDir,
  removeStateDir,
  startMarketplace,
  type OwnMarketplace,
} from '../support/marketplace.js';
import { startModelStandIn, type ModelStandIn } from '../support/agents/model-stand-in.js';
import { newParticipant, type Participant } from '../support/participant.js';

const PRICE = 250_000;
/** The protocol's fee is 2.5 %. */
const EARNED = PRICE - PRICE / 40;

let model: ModelStandIn;
let stateDir: string;
let marketplace: OwnMarketplace;
let creator: Participant;
let renter: Participant;
let agentId: string;
let connection: Connection;

const run = (id: string) =>
  renter.client.execute({ agent_id: id, task: 'answer' }, { idempotencyKey: randomUUID() });
const errorOf = async (call: Promise<unknown>) => {
  const error: unknown = await call.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!isApiError(error)) throw new Error('It was not refused by the API.', { cause: error });
  return { status: error.status, code: error.code };
};
/** Runs once, and gives the model's prompt and key. */
async function asked(): Promise<{ system: unknown; key: string }> {
  const running = run(agentId);
  const call = await model.nextCall();
  call.answer('done');
  expect(await running).toMatchObject({ status: 'completed', output: 'done' });
  const { messages } = JSON.parse(call.body) as { messages: { role: string; content: unknown }[] };
  return { system: messages.find(({ role }) => role === 'system')?.content, key: call.key };
}

beforeAll(async () => {
  model = await startModelStandIn();
  stateDir = await newStateDir();
  marketplace = await startMarketplace(stateDir, { MODEL_BASE_URL: model.baseUrl, MODEL_NAME: 'stand-in' });
  connection = new Connection(marketplace.dev.rpc_url, 'confirmed');
  creator = await newParticipant(marketplace);
  renter = await newParticipant(marketplace);
  const manifest = textAgent(model.baseUrl, { system_prompt: 'The first prompt.' });
  agentId = await publishAgent(creator, { ...manifest, model_key: 'first-key' });
  await rent(renter.client, renter.signer, agentId, { deposit_lamports: 40 * PRICE });
}, 120_000);

afterAll(async () => {
  await model?.close();
  await marketplace?.stop();
  await removeStateDir(stateDir);
});

describe('an update of an agent', () => {
  test('applies from the next run on, and keeps the fields that it does not name [REG-17, REG-24]', async () => {
    expect(await asked()).toEqual({ system: 'The first prompt.', key: 'first-key' });
    const accepted = await creator.client.updateAgent(agentId, {
      system_prompt: 'The second prompt.',
      description: 'Answers better.',
    });
    const job = await jobEnd(creator.client, accepted.job_id);
    expect(job).toMatchObject({ status: 'completed', result: { listing_id: agentId } });
    expect(await asked()).toEqual({ system: 'The second prompt.', key: 'first-key' });
    expect(await renter.client.getListing(agentId)).toMatchObject({ description: 'Answers better.' });
  });

  test('names the call that puts its public part on-chain, and does not require it', async () => {
    const before = await renter.client.getListing(agentId);
    const accepted = await creator.client.updateAgent(agentId, { description: 'Answers best.' });
    const { next_action: next } = await jobEnd(creator.client, accepted.job_id);
    const uri = next?.body['metadata_uri'] as string;
    expect(next).toMatchObject({ path: '/v1/transactions', body: { action: 'update', listing_id: agentId } });
    expect(uri).not.toBe(before.metadata_uri);
    await updateOnChain(creator.client, creator.signer, agentId, { metadata_uri: uri });
    await expect.poll(async () => (await renter.client.getListing(agentId)).metadata_uri).toBe(uri);
    expect(await jobEnd(creator.client, accepted.job_id)).not.toHaveProperty('next_action');
  });

  test('runs as the service checked it, whatever document the chain points to [REG-17]', async () => {
    const before = await renter.client.getListing(agentId);
    const { blockhash } = await connection.getLatestBlockhash();
    const message = new TransactionMessage({
      payerKey: creator.wallet.publicKey,
      recentBlockhash: blockhash,
      instructions: [
        updateListing({
          creator: creator.wallet.publicKey,
          listingId: agentId,
          metadataUri: 'ipfs://bafkreihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku',
        }),
      ],
    }).compileToV0Message();
    const transaction = new VersionedTransaction(message);
    transaction.sign([creator.wallet]);
    await connection.sendTransaction(transaction);
    await expect
      .poll(async () => (await renter.client.getListing(agentId)).metadata_uri)
      .toContain('bafkreihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku');
    expect(await asked()).toMatchObject({ system: 'The second prompt.' });
    const {
      metadata_uri: _,
      last_updated: __,
      run_count: ___,
      ...after
    } = await renter.client.getListing(agentId);
    expect(before).toMatchObject(after);
  });

  test('that is not valid changes nothing, and names every fault [REG-17]', async () => {
    const accepted = await creator.client.updateAgent(agentId, {
      name: 'another-name',
      timeout_seconds: 301,
      system_prompt: null,
    });
    const job = await jobEnd(creator.client, accepted.job_id);
    expect(job.status).toBe('failed');
    expect(job.error?.details.map(({ path }) => path)).toEqual(
      expect.arrayContaining(['name', 'timeout_seconds']),
    );
    expect(await asked()).toMatchObject({ system: 'The second prompt.' });
  });

  test('of on-chain terms is rejected by the job, which names the call that changes them [REG-70]', async () => {
    const accepted = await creator.client.updateAgent(agentId, { listing: { price_lamports: 300_000 } });
    const job = await jobEnd(creator.client, accepted.job_id);
    expect(job.error?.details).toMatchObject([
      { path: 'listing.price_lamports', message: expect.stringContaining('POST /v1/transactions') as string },
    ]);
  });

  test.each([
    [
      'another wallet’s',
      () => renter.client.updateAgent(agentId, { description: 'Mine.' }),
      404,
      'listing_not_found',
    ],
    ['nothing', () => creator.client.updateAgent(agentId, {}), 400, 'invalid_request'],
    [
      'a malformed id',
      () => creator.client.updateAgent('Not an id', { description: 'x' }),
      400,
      'invalid_listing_id',
    ],
  ])('of %s is refused', async (_, call, status, code) => {
    expect(await errorOf(call())).toEqual({ status, code });
  });
});

describe('a model key', () => {
  test('is replaced for the next run, and no answer shows it [REG-16]', async () => {
    const answer = await setModelKey(creator.client, creator.signer, agentId, 'second-key');
    expect(JSON.stringify(answer)).not.toContain('second-key');
    expect(await asked()).toMatchObject({ key: 'second-key' });
    expect(JSON.stringify(await creator.client.getListing(agentId))).not.toContain('second-key');
    // An update that does not name it keeps it.
    const accepted = await creator.client.updateAgent(agentId, { timeout_seconds: 45 });
    await jobEnd(creator.client, accepted.job_id);
    expect(await asked()).toMatchObject({ key: 'second-key' });
  });

  test('does not follow a changed endpoint, whose owner would have it: the new one is asked without [REG-16]', async () => {
    const state = await readFile(join(marketplace.stateDir, 'examples', 'state.json'), 'utf8');
    const { ports } = JSON.parse(state) as { ports: Record<string, number> };
    const first = `http://127.0.0.1:${ports['offline-example-model']}/v1`;
    const keyed = { ...textAgent(first), model_key: 'key-for-the-first' };
    // That model takes its own key alone.
    const id = await publishAgent(creator, keyed, { unverified: true });
    await rent(renter.client, renter.signer, id, { deposit_lamports: 10 * PRICE });
    const changes = { model: { provider: 'self_hosted', model: 'stand-in', endpoint_url: model.baseUrl } };
    const { job_id } = await updateAgent(creator.client, creator.signer, id, changes);
    const job = await jobEnd(creator.client, job_id);
    expect(job.review?.reasons).toEqual([expect.stringContaining(new URL(first).origin)]);
    const running = run(id);
    const call = await model.nextCall();
    call.answer('done');
    expect(call.key).toBe('');
    expect(JSON.stringify(call)).not.toContain('key-for-the-first');
    expect(await running).toMatchObject({ status: 'completed' });
  });

  test('of a declarative agent is replaced by its creator alone', async () => {
    expect(await errorOf(setModelKey(renter.client, renter.signer, agentId, 'k'))).toEqual({
      status: 404,
      code: 'listing_not_found',
    });
  });
});

test('a webhook secret is replaced without a gap: both sign for a while [REG-16]', async () => {
  const serve = (webhookSecret: string) =>
    model.answerOthers(createAgentHandler({ webhookSecret, run: () => 'connected' }));
  const url = new URL('/agent', model.baseUrl).href;
  const body = textAgent(url, { name: 'connected-agent', entrypoint_url: url });
  const { system_prompt: _, ...manifest } = body;
  const registered = await creator.client.registerAgent(manifest);
  const first = registered.webhook_secret ?? '';
  serve(first);
  const job = await jobEnd(creator.client, registered.job_id);
  const id = job.result?.listing_id ?? '';
  await publish(creator.client, creator.signer, id);
  await rent(renter.client, renter.signer, id, { deposit_lamports: 10 * PRICE });
  expect(await run(id)).toMatchObject({ status: 'completed' });

  const rotated = await rotateWebhookSecret(creator.client, creator.signer, id);
  expect(rotated.webhook_secret).not.toBe(first);
  expect(new Date(rotated.previous_valid_until).getTime()).toBeGreaterThan(Date.now());
  // Before the change of the secret, then after it.
  expect(await run(id)).toMatchObject({ status: 'completed' });
  serve(rotated.webhook_secret);
  expect(await run(id)).toMatchObject({ status: 'completed' });
  expect(await errorOf(setModelKey(creator.client, creator.signer, id, 'k'))).toEqual({
    status: 400,
    code: 'invalid_request',
  });
  expect(await errorOf(rotateWebhookSecret(creator.client, creator.signer, agentId))).toEqual({
    status: 400,
    code: 'invalid_request',
  });
});

test('earnings equal the escrows’ after the fee, by listing and in all, and go down by a withdrawal [TXN-1]', async () => {
  const runs = (await renter.client.getListing(agentId)).run_count;
  expect(runs).toBeGreaterThan(0);
  const own = async () =>
    (await creator.client.getEarnings()).earnings.find(({ listing_id: id }) => id === agentId);
  // The last charge may be on the chain and not yet in the index of it.
  await expect.poll(own).toMatchObject({
    earned_lamports: runs * EARNED,
    withdrawable_lamports: runs * EARNED,
    withdrawable_sol: (runs * EARNED) / 1e9,
    pending_lamports: 0,
  });
  const before = await creator.client.getEarnings();
  expect(before.total).toBe(3);
  expect(before.sum.earned_lamports).toBe(
    before.earnings.reduce((sum, { earned_lamports: earned }) => sum + earned, 0),
  );
  await withdraw(creator.client, creator.signer, agentId);
  await expect.poll(own).toMatchObject({ earned_lamports: runs * EARNED, withdrawable_lamports: 0 });
  // A wallet without listings has no earnings, and does not see others' earnings.
  expect(await renter.client.getEarnings()).toMatchObject({
    earnings: [],
    total: 0,
    sum: { earned_lamports: 0 },
  });
  expect((await creator.client.getEarnings({ limit: 1, offset: 1 })).earnings).toHaveLength(1);
});
