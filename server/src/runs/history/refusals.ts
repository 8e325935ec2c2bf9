import type { RunRefusal } from '@agent-rental/contract';
import type { Db } from '../../database/connection.js';
import type { Logger } from '../../platform/logger.js';
import { startRounds, type Rounds } from '../../platform/rounds.js';

/** Refused requests, counted for the creators of the listings. */
export interface Refusals {
  /** Counts one. Nothing is written yet: a refusal has to cost less than a run. */
  note(listingId: string, why: RunRefusal): void;
  /** Appends the counts since the last time. */
  flush(): Promise<void>;
  /** Flushes in rounds, and once more at the end. */
  start(): Rounds;
}

const ROUND_MS = 10_000;
/** Listings and reasons that are counted between two rounds; the refusals of others are not. */
const MOST = 10_000;

export function createRefusals(db: Db, logger: Pick<Logger, 'warn'>): Refusals {
  let counts = new Map<string, number>();

  const add = (key: string, count: number): void => {
    const before = counts.get(key);
    if (before !== undefined || counts.size < MOST) counts.set(key, (before ?? 0) + count);
  };

  async function flush(): Promise<void> {
    if (counts.size === 0) return;
    const counted = counts;
    counts = new Map();
    try {
      await db
        .insertInto('listing_run_deltas')
        .values(
          [...counted].map(([key, amount]) => {
            const [listingId = '', why = ''] = key.split(' ');
            return {
              listing_id: listingId,
              run_count: 0,
              completed_count: 0,
              measure: 'refused' as const,
              detail: why,
              amount,
            };
          }),
        )
        .execute();
    } catch (err) {
      for (const [key, count] of counted) add(key, count);
      logger.warn({ err }, 'refusals could not be counted; it is tried again');
    }
  }

  return {
    note: (listingId, why) => add(`${listingId} ${why}`, 1),
    flush,
    start() {
      const rounds = startRounds(flush, ROUND_MS, { startsAtOnce: false });
      return {
        async stop() {
          await rounds.stop();
          await flush();
        },
      };
    },
  };
}
