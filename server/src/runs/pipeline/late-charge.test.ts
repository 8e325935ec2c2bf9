import type { SignatureStatus } from '@solana/web3.js';
import { expect, it } from 'vitest';
import { errorOf, PRICE, openPaidRuns } from './paid-run.test-support.js';

const { db, world } = await openPaidRuns();

/** A chain on which nothing is confirmed while a caller waits; what becomes of it afterwards is `landed`. */
const lateWorld = (landed: () => Partial<SignatureStatus> | null) =>
  world({
    chain: {
      waitForConfirmation: async () => null,
      statuses: async (signatures) => signatures.map(() => landed() as SignatureStatus | null),
    },
  });

/** As a process leaves it that marked the run of a wallet, ended its charge so, and did not free the key. */
async function leave(wallet: string, state: 'failed' | 'credited' | 'lost' | 'finalized') {
  const undelivered = { status: 'undelivered', output: null } as const;
  await db.updateTable('runs').set(undelivered).where('wallet', '=', wallet).execute();
  await db.updateTable('charges').set({ state }).where('wallet', '=', wallet).execute();
}

it('a charge that is confirmed late is a 503 with the run, and then the result under its id and key [MON-7, RUN-17]', async () => {
  let status: Partial<SignatureStatus> | null = null;
  const { execute, look, reconcile, hasCredit, signatures } = await lateWorld(() => status);
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
  // Nothing was signed anew.
  expect(await signatures()).toBe(1);
});

it('a charge that fails in the end takes its result with it, and nothing is credited', async () => {
  let status: Partial<SignatureStatus> | null = null;
  const { execute, look, reconcile, hasCredit } = await lateWorld(() => status);
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
  const { execute, look, reconcile, hasCredit } = await world({
    chain: { waitForConfirmation: async () => used as unknown as SignatureStatus },
  });
  const { status, runId = '' } = await errorOf(execute());
  expect(status).toBe(503);
  await reconcile();
  expect(await look(runId)).toMatchObject({ status: 'completed', output: { answer: 'because' } });
  expect(await hasCredit()).toBe(false);
});

it.each(['failed', 'credited', 'lost'] as const)(
  'a repeat does not wait for a charge that is %s, although the process that ended it did not free the key [MON-7]',
  async (state) => {
    const { wallet, execute } = await world();
    const first = await execute();
    await leave(wallet, state);
    const again = await execute();
    expect(again).toMatchObject({ status: 'completed' });
    expect(again.runId).not.toBe(first.runId);
  },
);

it('a repeat waits while a final charge has its credit to come [MON-7]', async () => {
  const { wallet, runs, execute, reconcile, hasCredit } = await world();
  const { runId } = await execute();
  await leave(wallet, 'finalized');
  expect(await runs.freeSettledKey(runId)).toBe(false);
  await reconcile();
  expect(await hasCredit()).toBe(true);
  expect(await execute()).toMatchObject({ status: 'completed' });
  expect(await hasCredit()).toBe(false);
});
