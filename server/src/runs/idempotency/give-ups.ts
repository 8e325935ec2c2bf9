import { sql } from 'kysely';
import type { Db } from '../../database/connection.js';

/** So many are kept of a caller, for a day. */
const MOST = 8;

/** Remembers after which times a caller gave up on calls, for all replicas. */
interface CallerGiveUps {
  /** The last ones, the newest first. */
  recent(): Promise<{ elapsedMs: number; agoMs: number }[]>;
  record(elapsedMs: number): Promise<void>;
}

/** Makes the memory. @returns that of one caller: an API key, or a wallet */
export function createGiveUps(db: Db): (caller: string) => CallerGiveUps {
  /** Writes under way, by caller. A read waits for them, because a client calls again at once. */
  const pending = new Map<string, Promise<unknown>>();
  return (caller) => ({
    async recent() {
      await pending.get(caller);
      const { rows } = await sql<{ elapsedMs: number; agoMs: number }>`
        select elapsed_ms as "elapsedMs", (extract(epoch from now() - given_up_at) * 1000)::float8 as "agoMs"
        from call_give_ups
        where caller = ${caller} and given_up_at >= now() - interval '1 day'
        order by given_up_at desc limit ${MOST}`.execute(db);
      return rows;
    },
    async record(elapsedMs) {
      const written = db
        .insertInto('call_give_ups')
        .values({ caller, elapsed_ms: Math.min(Math.round(elapsedMs), 2_147_483_647) })
        .execute();
      const both = Promise.allSettled([pending.get(caller), written]).finally(() => {
        if (pending.get(caller) === both) pending.delete(caller);
      });
      pending.set(caller, both);
      await written;
      await sql`
        delete from call_give_ups where caller = ${caller} and id not in (
          select id from call_give_ups where caller = ${caller} order by given_up_at desc, id desc limit ${MOST}
        )`.execute(db);
    },
  });
}
