import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { rent, updateAgent } from '@agent-rental/sdk/solana';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { jobEnd, PRICE, textAgent } from '../support/agents/agents.js';
import {
  newStateDir,
  removeStateDir,
  startMarketplace,
  type OwnMarketplace,
  withoutExamples,
} from '../support/marketplace.js';
import { startModelStandIn, type ModelStandIn } from '../support/agents/model-stand-in.js';
import { newParticipant, type Participant } from '../support/participant.js';

const OPERATOR = fileURLToPath(new URL('../../../server/dist/operator/main.js', import.meta.url));

let model: ModelStandIn;
let stateDir: string;
let marketplace: OwnMarketplace;
let creator: Participant;
let renter: Participant;

/** The output of the operator's command. */
async function operate(...args: string[]): Promise<string> {
  const env = { PATH: process.env['PATH'] ?? '', STATE_DIR: stateDir };
  const { stdout } = await promisify(execFile)(process.execPath, [OPERATOR, ...args], { env });
  return stdout;
}

beforeAll(async () => {
  model = await startModelStandIn();
  stateDir = await newStateDir();
  marketplace = await startMarketplace(stateDir, {
    ...withoutExamples(model.baseUrl),
    REVIEW: 'operator',
  });
  creator = await newParticipant(marketplace);
  renter = await newParticipant(marketplace);
}, 180_000);

afterAll(async () => {
  await model?.close();
  await marketplace?.stop();
  await removeStateDir(stateDir);
});

test('an agent that is swapped between approval and publication runs as it was approved [REG-13]', async () => {
  const unseen: string[] = [];
  model.answerOthers(async (request) => {
    const body = await request.text();
    // Every version is probed.
    if (!body.includes('Are you there?')) unseen.push(body);
    return new Response(null, { status: 500 });
  });
  const { job_id: jobId } = await creator.client.registerAgent(textAgent(model.baseUrl));
  const job = await jobEnd(creator.client, jobId);
  expect(job.review?.state).toBe('pending');
  const id = job.result?.listing_id ?? '';
  expect(await operate('reviews')).toMatch(new RegExp(`${id} [^]*version +1`));
  await operate('approve', id);

  // The authority co-signs for the approved version; the transaction lands after the swap.
  const { transaction } = await creator.client.createTransaction({ action: 'publish', listing_id: id });
  const swapped = {
    model: {
      provider: 'self_hosted',
      model: 'stand-in',
      endpoint_url: new URL('/unseen', model.baseUrl).href,
    },
    description: 'Sells something else.',
  };
  const change = await updateAgent(creator.client, creator.signer, id, swapped);
  expect((await jobEnd(creator.client, change.job_id)).review?.state).toBe('pending');
  await expect(creator.client.createTransaction({ action: 'publish', listing_id: id })).rejects.toMatchObject(
    {
      code: 'invalid_request',
    },
  );
  await expect(operate('approve', id)).rejects.toThrow(/version 2/);

  const signed = await creator.signer.signTransaction(Buffer.from(transaction, 'base64'));
  await creator.client.submitTransaction(Buffer.from(signed).toString('base64'));
  const listing = await renter.client.getListing(id);
  expect(listing).toMatchObject({ status: 'active', description: 'Answers in text.' });

  await rent(renter.client, renter.signer, id, { deposit_lamports: 2 * PRICE });
  const running = renter.client.execute({ agent_id: id, task: 'Answer.', input: {} });
  (await model.nextCall()).answer('As it was approved.');
  expect(await running).toMatchObject({ status: 'completed', output: 'As it was approved.' });
  expect(unseen).toEqual([]);
  const { review } = await creator.client.getJob(change.job_id);
  expect(review).toMatchObject({
    state: 'approved',
    reasons: [expect.stringContaining('Send that change again')],
  });
});
