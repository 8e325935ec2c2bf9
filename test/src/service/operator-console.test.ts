import { createClient } from '@agent-rental/sdk';
import { decideAsOperator, keypairSigner } from '@agent-rental/sdk/solana';
import { Keypair } from '@solana/web3.js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { jobEnd, textAgent } from '../support/agents/agents.js';
import {
  newStateDir,
  removeStateDir,
  startMarketplace,
  type OwnMarketplace,
  withoutExamples,
} from '../support/marketplace.js';
import { startModelStandIn, type ModelStandIn } from '../support/agents/model-stand-in.js';
import { newParticipant, type Participant } from '../support/participant.js';

const keypair = Keypair.generate();
let model: ModelStandIn;
let stateDir: string;
let marketplace: OwnMarketplace;
let creator: Participant;
let operator: Pick<Participant, 'signer' | 'client'>;

beforeAll(async () => {
  model = await startModelStandIn();
  stateDir = await newStateDir();
  marketplace = await startMarketplace(stateDir, {
    ...withoutExamples(model.baseUrl),
    REVIEW: 'operator',
    OPERATOR_WALLETS: keypair.publicKey.toBase58(),
  });
  creator = await newParticipant(marketplace);
  const signer = keypairSigner(keypair);
  operator = { signer, client: createClient({ baseUrl: marketplace.dev.base_url, signer, retries: 0 }) };
}, 180_000);

afterAll(async () => {
  await model?.close();
  await marketplace?.stop();
  await removeStateDir(stateDir);
});

/** Registers an agent that waits for a review. */
async function register(): Promise<{ id: string; jobId: string }> {
  const { job_id: jobId } = await creator.client.registerAgent(textAgent(model.baseUrl));
  return { jobId, id: (await jobEnd(creator.client, jobId)).result?.listing_id ?? '' };
}

test('a wallet that is not on the list sees nothing of the console', async () => {
  const { client, signer } = creator;
  const nothing = { status: 404, code: 'not_found' };
  await expect(client.getOperatorOverview()).rejects.toMatchObject(nothing);
  await expect(client.listOperatorReviews()).rejects.toMatchObject(nothing);
  const decision = { action: 'reject', listing_id: (await register()).id, reason: 'No.' } as const;
  await expect(decideAsOperator(client, signer, decision)).rejects.toMatchObject(nothing);
});

test('a decision counts with the signature of an operator over exactly it', async () => {
  const { client, signer } = operator;
  const { id, jobId } = await register();
  const { reviews } = await client.listOperatorReviews();
  expect(reviews).toContainEqual(expect.objectContaining({ listing_id: id, version: 1 }));
  const decision = { action: 'reject', listing_id: id, reason: 'It names no output.' } as const;
  const unsigned = await client.decideAsOperator(decision).catch((error: unknown) => error);
  expect(unsigned).toMatchObject({ status: 401, code: 'invalid_signature' });
  expect((unsigned as Error).message).toContain('"reason":"It names no output."');
  await decideAsOperator(client, signer, decision);
  expect((await creator.client.getJob(jobId)).review).toMatchObject({
    state: 'rejected',
    reasons: ['It names no output.'],
  });
  await expect(
    decideAsOperator(client, signer, { action: 'approve', listing_id: id, version: 2 }),
  ).rejects.toMatchObject({ code: 'invalid_request' });
  await decideAsOperator(client, signer, { action: 'approve', listing_id: id, version: 1 });
  expect((await client.listOperatorReviews()).reviews.map(({ listing_id: of }) => of)).not.toContain(id);
});

test('the overview has thirty days, and the state of the service', async () => {
  const overview = await operator.client.getOperatorOverview();
  expect(overview).toMatchObject({ ready: true, reasons: [] });
  expect(overview.days).toHaveLength(30);
  expect(overview.waiting_reviews).toBeGreaterThan(0);
});
