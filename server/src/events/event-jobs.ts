import { EVENT_KEPT_DAYS } from '@agent-rental/contract';
import { sql } from 'kysely';
import type { Db } from '../database/connection.js';

/** Rows of one transaction, so that none is long. */
const BATCH = 5_000;
/** The same for events that are written: each has its deliveries. */
const TOLD_AT_ONCE = 1_000;

/** Removes the events that have been kept long enough. */
export async function removeOldEvents(db: Db): Promise<void> {
  for (;;) {
    const { numAffectedRows = 0n } = await sql`delete from events where id = any (array(
      select id from events where created_at < now() - make_interval(days => ${EVENT_KEPT_DAYS})
      order by created_at limit ${BATCH} for update skip locked))`.execute(db);
    if (numAffectedRows < BATCH) return;
  }
}

/** Tells renters of rentals that end soon or have ended. May run at any time, and tells each once. */
export async function tellEndingRentals(db: Db, batch = TOLD_AT_ONCE): Promise<void> {
  for (;;) {
    const { rows } = await sql<{ told: number }>`select tell_rentals_that_end(${batch}) as told`.execute(db);
    if ((rows[0]?.told ?? 0) < batch) return;
  }
}
