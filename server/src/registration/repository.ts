import type { Insertable, Selectable } from 'kysely';
import type { Db } from '../platform/database/database.js';
import type { Database } from '../platform/database/schema.js';

export type JobRow = Selectable<Database['registration_jobs']>;
export type DraftRow = Selectable<Database['listings']>;

/** Stores registrations: jobs, drafts and versions. */
export interface RegistrationRepository {
  /** Queues a job in the same transaction as its row, so that neither exists without the other. */
  createJob(row: { id: string; wallet: string; body: Buffer }): Promise<void>;
  findJob(id: string, wallet: string): Promise<JobRow | undefined>;
  findQueuedJob(id: string): Promise<JobRow | undefined>;
  rejectJob(id: string, error: Record<string, unknown>): Promise<void>;
  completeJob(
    id: string,
    draft: { listing: Insertable<Database['listings']>; version: Insertable<Database['agent_versions']> },
  ): Promise<void>;
  findDraft(listingId: string): Promise<DraftRow | undefined>;
  setTerms(
    listingId: string,
    terms: Pick<Insertable<Database['listings']>, 'rental_model' | 'price_lamports' | 'min_deposit_lamports'>,
  ): Promise<void>;
}

/** Name of the background task that validates a registration. */
export const REGISTRATION_TASK = 'validate_registration';

export function createRegistrationRepository(
  db: Db,
  enqueue: (tx: Db, task: string, payload: Record<string, string>) => Promise<void>,
): RegistrationRepository {
  return {
    createJob: ({ id, wallet, body }) =>
      db.transaction().execute(async (tx) => {
        await tx
          .insertInto('registration_jobs')
          .values({ id, wallet, status: 'queued', body, error: null, listing_id: null })
          .execute();
        await enqueue(tx, REGISTRATION_TASK, { job_id: id });
      }),
    findJob: (id, wallet) =>
      db
        .selectFrom('registration_jobs')
        .selectAll()
        .where('id', '=', id)
        .where('wallet', '=', wallet)
        .executeTakeFirst(),
    findQueuedJob: (id) =>
      db
        .selectFrom('registration_jobs')
        .selectAll()
        .where('id', '=', id)
        .where('status', '=', 'queued')
        .executeTakeFirst(),
    async rejectJob(id, error) {
      await db
        .updateTable('registration_jobs')
        .set({ status: 'failed', error: JSON.stringify(error), body: null })
        .where('id', '=', id)
        .where('status', '=', 'queued')
        .execute();
    },
    completeJob: (id, { listing, version }) =>
      db.transaction().execute(async (tx) => {
        const done = await tx
          .updateTable('registration_jobs')
          .set({ status: 'completed', body: null })
          .where('id', '=', id)
          .where('status', '=', 'queued')
          .executeTakeFirst();
        // The task ran twice: the first time stands.
        if (done.numUpdatedRows !== 1n) return;
        await tx
          .insertInto('creators')
          .values({ wallet: listing.creator, display_name: null })
          .onConflict((conflict) => conflict.doNothing())
          .execute();
        await tx.insertInto('listings').values(listing).execute();
        await tx.insertInto('agent_versions').values(version).execute();
        await tx
          .updateTable('registration_jobs')
          .set({ listing_id: listing.id })
          .where('id', '=', id)
          .execute();
      }),
    findDraft: (listingId) =>
      db.selectFrom('listings').selectAll().where('id', '=', listingId).executeTakeFirst(),
    async setTerms(listingId, terms) {
      await db
        .updateTable('listings')
        .set(terms)
        .where('id', '=', listingId)
        .where('status', '=', 'draft')
        .execute();
    },
  };
}
