import { COUNTED_FOR_TOTAL } from '@agent-rental/contract';
import { CompiledQuery, type Selectable } from 'kysely';
import { seenBy, type Owner } from '../../access/owner.js';
import type { Db } from '../../database/connection.js';
import { microsecondsOf, timeOfMicroseconds, type ListCount, type ListRange } from '../../database/keyset.js';
import { prepare } from '../../database/prepared-statements.js';
import type { Database } from '../../database/schema.js';

/** A run as a list shows it. */
export type ListedRun = Pick<
  Selectable<Database['runs']>,
  'id' | 'listing_id' | 'status' | 'cost_lamports' | 'duration_ms' | 'created_at' | 'finished_at'
> & { created_at_us: bigint };

/** The runs that owners see, newest first, of one listing or all. */
export interface RunList {
  page(owner: Owner, listingId: string | undefined, range: ListRange): Promise<ListedRun[]>;
  /** How many there are, up to {@link COUNTED_FOR_TOTAL} of them. */
  count(owner: Owner, listingId: string | undefined): Promise<ListCount>;
}

/** Counts have it as well: a part of the table in any order might have to be read whole for some of a wallet's runs. */
const ORDER = 'created_at desc, id desc';

/** The condition has the last parameters of a statement, from `$first` on. */
const isSeen = (owner: Owner, listingId: string | undefined, first: number): string =>
  `${seenBy(owner)[0]} = $${first}${listingId === undefined ? '' : ` and listing_id = $${first + 1}`}`;
const valuesOf = (owner: Owner, listingId: string | undefined): string[] =>
  listingId === undefined ? [seenBy(owner)[1]] : [seenBy(owner)[1], listingId];

export function createRunList(db: Db): RunList {
  return {
    async page(owner, listingId, { limit, offset, after }) {
      const place = after ? [after.timeUs, after.id] : [];
      const text =
        prepare(`select id, listing_id, status, cost_lamports, duration_ms, created_at, finished_at,
          ${microsecondsOf('created_at')} as created_at_us
        from runs
        where ${isSeen(owner, listingId, 3 + place.length)}
          ${after ? `and (created_at, id) < (${timeOfMicroseconds('$3')}, $4::uuid)` : ''}
        order by ${ORDER} limit $1 offset $2`);
      const values = [limit, offset, ...place, ...valuesOf(owner, listingId)];
      return (await db.executeQuery<ListedRun>(CompiledQuery.raw(text, values))).rows;
    },
    async count(owner, listingId) {
      const text = prepare(`select count(*) as total from (
        select from runs where ${isSeen(owner, listingId, 2)} order by ${ORDER} limit $1) counted`);
      const values = [COUNTED_FOR_TOTAL.runs, ...valuesOf(owner, listingId)];
      const { rows } = await db.executeQuery<{ total: bigint }>(CompiledQuery.raw(text, values));
      const total = Number(rows[0]?.total ?? 0n);
      return { total, isMinimum: total === COUNTED_FOR_TOTAL.runs };
    },
  };
}
