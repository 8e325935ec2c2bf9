import { decideAsOperator, moderate } from '@agent-rental/sdk/solana';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startOperatedMarketplace, type OperatedMarketplace } from './operated-marketplace.js';
import { newParticipant, type Participant } from '../support/participant.js';

let operated: OperatedMarketplace;
let { marketplace, creator, operator, admin, register, publish } = {} as OperatedMarketplace;

beforeAll(async () => {
  operated = await startOperatedMarketplace();
  ({ marketplace, creator, operator, admin, register, publish } = operated);
}, 180_000);
afterAll(() => operated?.close());

test('a wallet that is not on the list sees nothing of the console', async () => {
  const { client, signer } = creator;
  const nothing = { status: 404, code: 'not_found' };
  await expect(client.getOperatorOverview()).rejects.toMatchObject(nothing);
  await expect(client.listOperatorReviews()).rejects.toMatchObject(nothing);
  await expect(client.listOperatorReports()).rejects.toMatchObject(nothing);
  await expect(client.listOperatorActions()).rejects.toMatchObject(nothing);
  await expect(client.findForOperator(signer.address)).rejects.toMatchObject(nothing);
  const decision = { action: 'reject', listing_id: (await register()).id, reason: 'No.' } as const;
  await expect(decideAsOperator(client, signer, decision)).rejects.toMatchObject(nothing);
});

test('a decision counts with the signature of an operator over exactly it', async () => {
  const { client, signer } = operator;
  const { id, jobId } = await register();
  const { reviews } = await client.listOperatorReviews();
  expect(reviews).toContainEqual(
    expect.objectContaining({ listing_id: id, version: 1, unreachable: null }) as object,
  );
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

test('a take-down is the admin’s alone, and goes on record once it has landed [OPS-114]', async () => {
  const id = await publish(await newParticipant(marketplace));
  const suspend = ({ client, signer }: Participant) => moderate(client, signer, id, { suspended: true });
  await expect(suspend(operator)).rejects.toMatchObject({
    code: 'invalid_request',
  });
  const { signature: transaction } = await suspend(admin);
  const record = (action: 'take_down' | 'restore', listing = id, signature = transaction) =>
    decideAsOperator(admin.client, admin.signer, {
      action,
      listing_id: listing,
      reason: 'Spam.',
      transaction: signature,
    });
  const nothing = { code: 'invalid_request' };
  await expect(record('restore')).rejects.toMatchObject(nothing);
  await expect(record('take_down', (await register()).id)).rejects.toMatchObject(nothing);
  await expect(record('take_down', id, '1'.repeat(64))).rejects.toMatchObject(nothing);
  await record('take_down');
  await record('take_down');
  const { actions } = await admin.client.listOperatorActions();
  expect(actions.filter(({ subject, action }) => subject === id && action === 'take-down')).toMatchObject([
    { reason: 'Spam.', signature: transaction },
  ]);
});

test('the overview has thirty days, and the state of the service', async () => {
  const overview = await operator.client.getOperatorOverview();
  expect(overview).toMatchObject({ ready: true, reasons: [] });
  expect(overview.days).toHaveLength(30);
  expect(overview.waiting_reviews).toBeGreaterThan(0);
});
