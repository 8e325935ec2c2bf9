import type { SignatureStatus } from '@solana/web3.js';
import { pino } from 'pino';
import { afterAll, expect, it } from 'vitest';
import { openNotifications } from '../../database/notifications.js';
import { openTestDatabase } from '../../testing/index.js';
import { errorOf, PRICE, paidRunWorld } from './paid-run.test-support.js';

const database = await openTestDatabase();
const notifications = await openNotifications(database.pool, 'late_charge_test', pino({ level: 'silent' }));
afterAll(async () => {
  await notifications.close();
  await database.close();
});

/** A chain on which nothing is confirmed while a caller waits; what becomes of it afterwards is `landed`. */
const world = (landed: () => Partial<SignatureStatus> | null) =>
  paidRunWorld(
    { database, notifications },
    {
      chain: {
        waitForConfirmation: async () => null,
        statuses: async (signatures) => signatures.map(() => landed() as SignatureStatus | null),
      },
    },
  );

it('a charge that is confirmed late is a 503 with the run, and then the result under its id and key [MON-7, RUN-17]', async () => {
  let status: Partial<SignatureStatus> | null = null;
  const { execute, look, reconcile, hasCredit } = await world(() => status);
  const error = await errorOf(execute());
  expect(error).toMatchObject({ status: 503, code: 'service_unavailable' });
  const runId = error.runId ?? '';
  expect(await look(runId)).toMatchObject({ run_id: runId, status: 'running' });
  await reconcile();
  expect(await look(runId)).toMatchObject({ status: 'running' });
  status = { err: null, confirmationStatus: 'confirmed' };
  await reconcile();
  const result = { status: 'completed', output: { answer: 'because' } };
  expect(await look(runId)).toMatchObject({ ...result, cost_lamports: Number(PRICE) });
  expect(await execute()).toMatchObject({ ...result, runId });
  expect(await hasCredit()).toBe(false);
});

it('a charge that fails in the end takes its result with it, and nothing is credited', async () => {
  let status: Partial<SignatureStatus> | null = null;
  const { execute, look, reconcile, hasCredit } = await world(() => status);
  const { runId = '' } = await errorOf(execute());
  status = { err: { InstructionError: [0, { Custom: 6003 }] }, confirmationStatus: 'finalized' };
  await reconcile();
  const ended = await look(runId);
  expect(ended).toMatchObject({ status: 'failed', cost_lamports: 0, error: { code: 'service_unavailable' } });
  expect(JSON.stringify(ended)).not.toContain('because');
  expect(await hasCredit()).toBe(false);
});

it('a transaction that fails because its sequence is used leaves the end open: the result is served once another is found [MON-7]', async () => {
  const used = { err: { InstructionError: [1, { Custom: 6100 }] }, confirmationStatus: 'confirmed' };
  const { execute, look, reconcile, hasCredit } = await paidRunWorld(
    { database, notifications },
    {
      chain: {
        waitForConfirmation: async () => used as unknown as SignatureStatus,
      },
    },
  );
  const { status, runId = '' } = await errorOf(execute());
  expect(status).toBe(503);
  await reconcile();
  expect(await look(runId)).toMatchObject({ status: 'completed', output: { answer: 'because' } });
  expect(await hasCredit()).toBe(false);
});

it.each(['failed', 'credited', 'lost'] as const)(
  'a repeat does not wait for a charge that is %s, although the process that ended it did not free the key [MON-7]',
  async (state) => {
    const { db, wallet, execute } = await paidRunWorld({ database, notifications });
    const first = await execute();
    await db
      .updateTable('runs')
      .set({ status: 'undelivered', output: null })
      .where('wallet', '=', wallet)
      .execute();
    await db.updateTable('charges').set({ state }).where('wallet', '=', wallet).execute();
    const again = await execute();
    expect(again).toMatchObject({ status: 'completed' });
    expect(again.runId).not.toBe(first.runId);
  },
);

it('a repeat waits while a final charge has its credit to come [MON-7]', async () => {
  const { db, wallet, runs, execute, reconcile, hasCredit } = await paidRunWorld({ database, notifications });
  const { runId } = await execute();
  await db
    .updateTable('runs')
    .set({ status: 'undelivered', output: null })
    .where('wallet', '=', wallet)
    .execute();
  await db.updateTable('charges').set({ state: 'finalized' }).where('wallet', '=', wallet).execute();
  expect(await runs.freeSettledKey(runId)).toBe(false);
  await reconcile();
  expect(await hasCredit()).toBe(true);
  expect(await execute()).toMatchObject({ status: 'completed' });
  expect(await hasCredit()).toBe(false);
});
