import { sql } from 'kysely';
import type { Db } from '../../database/connection.js';

/** Charges that one transaction goes through. */
const BATCH = 5_000;

/**
 * Drops the signed bytes of charges that were final before a trigger did so at once. It goes through the charges in batches and
 * notes how far it is; after it has been through all of them it does nothing.
 */
export async function dropFinalWires(db: Db): Promise<void> {
  for (let isMore = true; isMore;) {
    const { rows } = await sql<{ more: boolean }>`select drop_final_wires(${BATCH}) as more`.execute(db);
    isMore = rows[0]?.more === true;
  }
}
