import { sql } from 'kysely';
import type { Db } from '../database/connection.js';
import type { Logger } from '../platform/logger.js';
import { startRounds, type Rounds } from '../platform/rounds.js';

/** Reads add up the counts that were appended since the last round. */
const ROUND_MS = 10_000;
/** Differences that one transaction folds of each kind. */
const BATCH = 20_000;

/**
 * Adds all appended differences to the counts of search terms and of listings' runs. Does nothing while another replica
 * folds. Reads are exact before and after it.
 */
export async function foldCounts(db: Db): Promise<void> {
  for (let isMore = true; isMore;) {
    const { rows } = await sql<{ more: boolean }>`select fold_deltas(${BATCH}) as more`.execute(db);
    isMore = rows[0]?.more === true;
  }
}

/** Folds the counts in rounds, on each replica; those in which nothing was appended cost a look at an index. */
export function startFolding(db: Db, logger: Pick<Logger, 'warn'>): Rounds {
  return startRounds(
    () =>
      foldCounts(db).catch((err: unknown) =>
        logger.warn({ err }, 'counts could not be folded; it is tried again'),
      ),
    ROUND_MS,
    { startsAtOnce: false },
  );
}
