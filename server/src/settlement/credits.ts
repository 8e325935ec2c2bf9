import { RENTAL_TERMS } from '@agent-rental/contract';
import { sql } from 'kysely';
import type { Db } from '../database/connection.js';
import { dueUndeliveredRuns } from './undelivered-runs.js';

/** Why an operator's credit is not given. */
export type CreditRefusal = 'not_found' | 'under_way' | 'not_per_task' | 'trial' | 'given' | 'too_many';

/** Credits that operators give in 24 hours, together: a mistaken script gives no more. */
export const OPERATOR_CREDITS_PER_DAY = 50;

/**
 * Free runs for runs that were charged and not delivered. `give_credit` alone decides about a credit and makes it. A
 * reservation uses it up (`reserve_run_charges`), and the end of a lost charge withdraws it (`end_charge`).
 */
export interface Credits {
  /**
   * Gives one free run for a run that was charged and not delivered, once per run. The number per day is bounded for each
   * wallet and listing. Returns whether the run has a credit now. A run whose output has left never has one.
   */
  give(runId: string): Promise<boolean>;
  /**
   * Gives one free run for any ended run that was paid one by one, once per run; undefined, or why not. In a transaction:
   * the bound of a day holds until its end.
   */
  giveByOperator(runId: string, reason: string): Promise<CreditRefusal | undefined>;
  /** Whether a credit was given for this run. */
  wasGiven(runId: string): Promise<boolean>;
  /** Whether the wallet has an unused one. */
  has(wallet: string, listingId: string): Promise<boolean>;
  /** Gives a used credit back, when the new run has no answer either and no output of it has left. */
  giveBack(runId: string): Promise<void>;
  /** The same for undelivered runs that are due, also runs of ended processes. */
  giveBackUndelivered(): Promise<void>;
}

export function createCredits(db: Db): Credits {
  return {
    async give(runId) {
      const { rows } = await sql<{ given: boolean }>`select give_credit(${runId}) as given`.execute(db);
      return rows[0]?.given === true;
    },
    async giveByOperator(runId, reason) {
      // One after the other, so that the bound is exact.
      await sql`select pg_advisory_xact_lock(hashtextextended('operator credits', 0))`.execute(db);
      const run = await db
        .selectFrom('runs')
        .innerJoin('listings', 'listings.id', 'runs.listing_id')
        .select(['wallet', 'listing_id', 'runs.status', 'is_trial', 'rental_model'])
        .where('runs.id', '=', runId)
        .executeTakeFirst();
      if (!run) return 'not_found';
      if (run.status === 'running') return 'under_way';
      if (run.rental_model === null || !RENTAL_TERMS[run.rental_model].chargesRuns) return 'not_per_task';
      if (run.is_trial) return 'trial';
      const { given } = await db
        .selectFrom('credits')
        .select((eb) => eb.fn.countAll<bigint>().as('given'))
        .where('reason', 'is not', null)
        .where('created_at', '>', sql<Date>`now() - interval '24 hours'`)
        .executeTakeFirstOrThrow();
      if (given >= OPERATOR_CREDITS_PER_DAY) return 'too_many';
      const { wallet, listing_id } = run;
      const { numInsertedOrUpdatedRows } = await db
        .insertInto('credits')
        .values({ run_id: runId, wallet, listing_id, used_by_run_id: null, reason })
        .onConflict((conflict) => conflict.doNothing())
        .executeTakeFirst();
      return numInsertedOrUpdatedRows === 1n ? undefined : 'given';
    },
    async wasGiven(runId) {
      const row = await db
        .selectFrom('credits')
        .select('run_id')
        .where('run_id', '=', runId)
        .executeTakeFirst();
      return row !== undefined;
    },
    async has(wallet, listingId) {
      const found = await db
        .selectFrom('credits')
        .select('run_id')
        .where('wallet', '=', wallet)
        .where('listing_id', '=', listingId)
        .where('used_by_run_id', 'is', null)
        .limit(1)
        .executeTakeFirst();
      return found !== undefined;
    },
    async giveBack(runId) {
      await sql`
        update credits set used_by_run_id = null
        where used_by_run_id = ${runId}
          and not exists (
            select from runs
            where id = ${runId} and (output_left_at is not null or status in ('completed', 'failed'))
          )`.execute(db);
    },
    async giveBackUndelivered() {
      await sql`
        update credits set used_by_run_id = null
        where used_by_run_id = any (array(${dueUndeliveredRuns}))
          and (select status = 'undelivered' and output_left_at is null from runs where id = used_by_run_id)`.execute(
        db,
      );
    },
  };
}
