import {
  TRIALS_OF_ADDRESS_PER_DAY,
  TRIALS_OF_LISTING_PER_DAY,
  TRIALS_OF_LISTING_PER_HOUR,
  TRIALS_OF_WALLET_PER_DAY,
  TRIAL_WALLET_LAMPORTS,
} from '@agent-rental/contract';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import type { ApiError } from '../../errors/api-error.js';
import { insertListing, insertRun, newWallet } from '../../testing/index.js';
import {
  answers,
  breaks,
  errorOf,
  unreachable,
  openPaidRuns,
  type AgentWork,
  type PaidRunWorld,
} from '../pipeline/paid-run.test-support.js';
import { createTrials } from './trials.js';

const { db, world } = await openPaidRuns();

const FUNDED = { holdsLamports: Number(TRIAL_WALLET_LAMPORTS) };
let calls = 0;

/** A listing with a free first run, and a wallet that has rented nothing. */
async function offering(setup: PaidRunWorld = {}) {
  const made = await world({ trial: FUNDED, ...setup });
  const rowsOf = (runId: string) =>
    db.selectFrom('runs').selectAll().where('id', '=', runId).executeTakeFirst();
  return {
    ...made,
    rowsOf,
    /** Another call. */
    call: () => made.execute({ idempotencyKey: `call-${(calls += 1)}` }),
  };
}

describe('a free first run', () => {
  it('needs no rental, costs nothing, is marked, and is had once [EXE-100]', async () => {
    const { call, charges, look, rowsOf } = await offering();
    const run = await call();
    expect(run).toMatchObject({ status: 'completed', costLamports: 0n, isTrial: true });
    expect(await charges()).toEqual([]);
    expect(await look(run.runId)).toMatchObject({ status: 'completed', cost_lamports: 0, trial: true });
    expect(await rowsOf(run.runId)).toMatchObject({ is_trial: true, status: 'completed' });
    const logged = db.selectFrom('run_log_entries').select('run_id').where('run_id', '=', run.runId);
    expect(await logged.execute()).toHaveLength(1);
    const error = await errorOf(call());
    expect(error.code).toBe('credential_not_found');
    expect(error.message).toContain('has had its free run');
  });

  it('is one of calls at the same time, and the others are refused [EXE-102]', async () => {
    const { call } = await offering();
    const ended = await Promise.allSettled(Array.from({ length: 6 }, call));
    expect(ended.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    const refused = ended.flatMap((end) => (end.status === 'rejected' ? [end.reason as ApiError] : []));
    expect(refused.map(({ code }) => code)).toEqual(Array.from({ length: 5 }, () => 'credential_not_found'));
  });

  it.each<[string, AgentWork]>([
    ['that is out of reach', unreachable],
    ['that a fault of the service kept from its renter', breaks],
    [
      'that was given up before the task went out',
      async () => ({ status: 'failed', output: 'stopped', cause: { class: 'stopped' } }),
    ],
  ])('of an agent %s is given back [EXE-102]', async (_, agent) => {
    let work = agent;
    const { call } = await offering({ agent: (options) => work(options) });
    await call().catch(() => undefined);
    work = answers();
    expect(await call()).toMatchObject({ status: 'completed', isTrial: true });
    expect((await errorOf(call())).code).toBe('credential_not_found');
  });

  it('that failed at its agent was had [EXE-102]', async () => {
    const failed = { status: 'failed', output: 'no', cause: { class: 'task_failed' } } as const;
    const { call } = await offering({ agent: answers(failed) });
    expect(await call()).toMatchObject({ status: 'failed', isTrial: true });
    expect((await errorOf(call())).code).toBe('credential_not_found');
  });

  it('is for a wallet that has rented an agent or holds SOL [EXE-102]', async () => {
    const poor = await offering({ trial: { holdsLamports: Number(TRIAL_WALLET_LAMPORTS) - 1 } });
    expect(await errorOf(poor.call())).toMatchObject({
      code: 'credential_not_found',
      message: expect.stringContaining('0.05 SOL') as string,
    });
    const other = await insertListing(db);
    await db
      .insertInto('credentials')
      .values({
        address: newWallet(),
        buyer: poor.wallet,
        listing_address: other.address,
        rental_model: 'per_query',
        valid: true,
        purchased_at: new Date(),
        expires_at: null,
        slot: 1n,
      })
      .execute();
    expect(await poor.call()).toMatchObject({ isTrial: true });
  });

  it('is offered by no listing whose creator has not said so [EXE-100]', async () => {
    const { call, listing } = await offering();
    Object.assign(listing, { freeTrial: null });
    const error = await errorOf(call());
    expect(error).toMatchObject({ code: 'credential_not_found' });
    expect(error.message).toContain('has not rented');
  });

  it('is given so often in a day by a listing, and to a wallet, also at once [EXE-102]', async () => {
    const trials = createTrials({ db, history: {} as never, holdSeconds: 0 });
    const take = async (row: Awaited<ReturnType<typeof insertListing>>, wallet: string, address?: string) => {
      const runId = await insertRun(db, row, wallet);
      return trials.take({ runId, wallet, listing: row, address }).then(
        () => 'taken',
        (error: ApiError) => error.message,
      );
    };
    const busy = await insertListing(db);
    const takeMany = (count: number, address?: string) =>
      Promise.all(Array.from({ length: count }, () => take(busy, newWallet(), address)));
    const countTaken = (outcomes: readonly string[]) =>
      outcomes.filter((outcome) => outcome === 'taken').length;
    const later = (hours: number) =>
      sql`update trials set taken_at = taken_at - make_interval(hours => ${hours}) where listing_id = ${busy.id}`.execute(
        db,
      );
    // Many wallets of one address leave most of the hour and of the day for others.
    const moved = await takeMany(22, '192.0.2.1');
    expect(countTaken(moved)).toBe(TRIALS_OF_ADDRESS_PER_DAY);
    expect(moved.filter((outcome) => outcome.includes('Your address'))).toHaveLength(
      22 - TRIALS_OF_ADDRESS_PER_DAY,
    );
    expect(await take(busy, newWallet(), '198.51.100.7')).toBe('taken');
    // Many addresses leave most of the day.
    const spread = await takeMany(22);
    expect(TRIALS_OF_ADDRESS_PER_DAY + 1 + countTaken(spread)).toBe(TRIALS_OF_LISTING_PER_HOUR);
    expect(spread.some((outcome) => outcome.includes('within an hour'))).toBe(true);
    let given = TRIALS_OF_LISTING_PER_HOUR;
    for (let hour = 1; hour < 6; hour += 1) {
      await later(1);
      expect(await take(busy, newWallet(), '192.0.2.1')).toContain(
        given < TRIALS_OF_LISTING_PER_DAY ? 'Your address' : 'within 24 hours',
      );
      given += countTaken(await takeMany(7));
    }
    expect(given).toBe(TRIALS_OF_LISTING_PER_DAY);
    await later(25);
    expect(await take(busy, newWallet(), '192.0.2.1')).toBe('taken');

    const wallet = newWallet();
    const rows = await Promise.all(
      Array.from({ length: TRIALS_OF_WALLET_PER_DAY + 2 }, () => insertListing(db)),
    );
    const own = await Promise.all(rows.map((row) => take(row, wallet)));
    expect(own.filter((outcome) => outcome === 'taken')).toHaveLength(TRIALS_OF_WALLET_PER_DAY);
  });
});
