import {
  TRIALS_OF_LISTING_PER_DAY,
  TRIALS_OF_WALLET_PER_DAY,
  TRIAL_WALLET_LAMPORTS,
} from '@agent-rental/contract';
import { sql } from 'kysely';
import { pino } from 'pino';
import { afterAll, describe, expect, it } from 'vitest';
import { openNotifications } from '../../database/notifications.js';
import type { ApiError } from '../../errors/api-error.js';
import { insertListing, insertRun, newWallet, openTestDatabase } from '../../testing/index.js';
import { AgentUnreachableError } from '../agents/outcome.js';
import {
  errorOf,
  paidRunWorld,
  type AgentWork,
  type PaidRunWorld,
} from '../pipeline/paid-run.test-support.js';
import { createTrials } from './trials.js';

const database = await openTestDatabase();
const notifications = await openNotifications(database.pool, 'trials_test', pino({ level: 'silent' }));
afterAll(async () => {
  await notifications.close();
  await database.close();
});

const FUNDED = { holdsLamports: Number(TRIAL_WALLET_LAMPORTS) };
let calls = 0;

/** A listing with a free first run, and a wallet that has rented nothing. */
async function world(setup: PaidRunWorld = {}) {
  const made = await paidRunWorld({ database, notifications }, { trial: FUNDED, ...setup });
  const rowsOf = (runId: string) =>
    database.db.selectFrom('runs').selectAll().where('id', '=', runId).executeTakeFirst();
  return {
    ...made,
    rowsOf,
    /** Another call. */
    call: () => made.execute({ idempotencyKey: `call-${(calls += 1)}` }),
  };
}

describe('a free first run', () => {
  it('needs no rental, costs nothing, is marked, and is had once [EXE-100]', async () => {
    const { call, charges, look, rowsOf } = await world();
    const run = await call();
    expect(run).toMatchObject({ status: 'completed', costLamports: 0n, isTrial: true });
    expect(await charges()).toEqual([]);
    expect(await look(run.runId)).toMatchObject({ status: 'completed', cost_lamports: 0, trial: true });
    expect(await rowsOf(run.runId)).toMatchObject({ is_trial: true, status: 'completed' });
    const logged = await database.db
      .selectFrom('run_log_entries')
      .select('run_id')
      .where('run_id', '=', run.runId)
      .execute();
    expect(logged).toHaveLength(1);
    const error = await errorOf(call());
    expect(error.code).toBe('credential_not_found');
    expect(error.message).toContain('has had its free run');
  });

  it('is one of calls at the same time, and the others are refused [EXE-102]', async () => {
    const { call } = await world();
    const ended = await Promise.allSettled(Array.from({ length: 6 }, call));
    expect(ended.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    const refused = ended.flatMap((end) => (end.status === 'rejected' ? [end.reason as ApiError] : []));
    expect(refused.map(({ code }) => code)).toEqual(Array.from({ length: 5 }, () => 'credential_not_found'));
  });

  it.each<[string, AgentWork]>([
    [
      'that is out of reach',
      async () => {
        throw new AgentUnreachableError('The endpoint is gone.', { class: 'endpoint_unreachable' });
      },
    ],
    [
      'that a fault of the service kept from its renter',
      async ({ contact }) => {
        contact.reach();
        throw new Error('A fault of ours.');
      },
    ],
    [
      'that was given up before the task went out',
      async () => ({ status: 'failed', output: 'stopped', cause: { class: 'stopped' } }),
    ],
  ])('of an agent %s is given back [EXE-102]', async (_, agent) => {
    let work = agent;
    const { call } = await world({ agent: (options) => work(options) });
    await call().catch(() => undefined);
    work = async ({ contact }) => {
      contact.reach();
      return { status: 'completed', output: 'done' };
    };
    expect(await call()).toMatchObject({ status: 'completed', isTrial: true });
    expect((await errorOf(call())).code).toBe('credential_not_found');
  });

  it('that failed at its agent was had [EXE-102]', async () => {
    const { call } = await world({
      agent: async ({ contact }) => {
        contact.reach();
        return { status: 'failed', output: 'no', cause: { class: 'task_failed' } };
      },
    });
    expect(await call()).toMatchObject({ status: 'failed', isTrial: true });
    expect((await errorOf(call())).code).toBe('credential_not_found');
  });

  it('is for a wallet that has rented an agent or holds SOL [EXE-102]', async () => {
    const poor = await world({ trial: { holdsLamports: Number(TRIAL_WALLET_LAMPORTS) - 1 } });
    const error = await errorOf(poor.call());
    expect(error).toMatchObject({ code: 'credential_not_found' });
    expect(error.message).toContain('0.05 SOL');
    const other = await insertListing(database.db);
    await database.db
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
    const { call, listing } = await world();
    Object.assign(listing, { hasFreeTrial: false });
    const error = await errorOf(call());
    expect(error).toMatchObject({ code: 'credential_not_found' });
    expect(error.message).toContain('has not rented');
  });

  it('is given so often in a day by a listing, and to a wallet, also at once [EXE-102]', async () => {
    const trials = createTrials({ db: database.db, chain: {} as never });
    const take = async (row: Awaited<ReturnType<typeof insertListing>>, wallet: string) => {
      const runId = await insertRun(database.db, row, wallet);
      return trials.take({ runId, wallet, listing: row }).then(
        () => 'taken',
        (error: ApiError) => error.code,
      );
    };
    const busy = await insertListing(database.db);
    const taken = await Promise.all(
      Array.from({ length: TRIALS_OF_LISTING_PER_DAY + 3 }, () => take(busy, newWallet())),
    );
    expect(taken.filter((outcome) => outcome === 'taken')).toHaveLength(TRIALS_OF_LISTING_PER_DAY);
    expect(taken.filter((outcome) => outcome === 'rate_limit_exceeded')).toHaveLength(3);
    await sql`update trials set taken_at = taken_at - interval '25 hours' where listing_id = ${busy.id}`.execute(
      database.db,
    );
    expect(await take(busy, newWallet())).toBe('taken');

    const wallet = newWallet();
    const rows = await Promise.all(
      Array.from({ length: TRIALS_OF_WALLET_PER_DAY + 2 }, () => insertListing(database.db)),
    );
    const own = await Promise.all(rows.map((row) => take(row, wallet)));
    expect(own.filter((outcome) => outcome === 'taken')).toHaveLength(TRIALS_OF_WALLET_PER_DAY);
  });
});
