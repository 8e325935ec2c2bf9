import type { RunRefusal } from '@agent-rental/contract';
import type { Db } from '../../database/connection.js';
import type { Logger } from '../../platform/logger.js';
import { startRounds, type Rounds } from '../../platform/rounds.js';

/** Refused requests and page views, counted for the creators of the listings. */
export interface NotedCounts {
  /** Counts a refusal. Nothing is written yet: a refusal has to cost less than a run. */
  noteRefusal(listingId: string, why: RunRefusal): void;
  /** Counts a load of the listing's page. */
  noteView(listingId: string): void;
  /** Appends the counts since the last time. */
  flush(): Promise<void>;
  /** Flushes in rounds, and once more at the end. */
  start(): Rounds;
}

const ROUND_MS = 10_000;
/** Listings and reasons that are counted between two rounds; others are not. */
const MOST = 10_000;

export function createNotedCounts(db: Db, logger: Pick<Logger, 'warn'>): NotedCounts {
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
            const [listingId = '', measure, detail = ''] = key.split(' ');
            return {
              listing_id: listingId,
              run_count: 0,
              completed_count: 0,
              measure: measure === 'viewed' ? measure : ('refused' as const),
              detail,
              amount,
            };
          }),
        )
        .execute();
    } catch (err) {
      for (const [key, count] of counted) add(key, count);
      logger.warn({ err }, 'refusals and views could not be counted; it is tried again');
    }
  }

  return {
    noteRefusal: (listingId, why) => add(`${listingId} refused ${why}`, 1),
    noteView: (listingId) => add(`${listingId} viewed`, 1),
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
