import type { ListingStatus } from '@agent-rental/contract';
import { CompiledQuery } from 'kysely';
import type { Db } from '../../database/connection.js';
import { microsecondsOf, timeOfMicroseconds, type ListRange } from '../../database/keyset.js';
import { prepare } from '../../database/prepared-statements.js';

/** Lamports: ever earned and not withdrawn yet, after the fee; and prices of charges on their way, before it. */
export interface EarningsAmounts {
  earned: bigint;
  withdrawable: bigint;
  pending: bigint;
}

/** The earnings of one published listing. */
interface ListingEarningsRow extends EarningsAmounts {
  id: string;
  title: string;
  status: ListingStatus;
  published_at_us: bigint;
}

/** The earnings of creators, by listing and in all. */
export interface CreatorEarnings {
  /** Part of a creator's published listings, the latest first. */
  page(creator: string, range: ListRange): Promise<ListingEarningsRow[]>;
  /** All listings of a creator together, at the same cost however many there are, and the number of published ones. */
  sum(creator: string): Promise<EarningsAmounts & { listingCount: number }>;
}

/**
 * Pending charges are few, of all creators together: read first, and their listings looked up one by one. A join might go
 * through all listings of the creator instead.
 */
const SUM = prepare(`with pending as materialized (
    select listing_id, sum(price_lamports) as lamports from charges
    where state in ('reserved', 'signed') group by listing_id
  )
  select coalesce(listing_count, 0) as "listingCount", coalesce(earned_lamports, 0) as earned,
    coalesce(withdrawable_lamports, 0) as withdrawable,
    coalesce((
      select sum(lamports) from pending
      where (select listings.creator from listings where listings.id = pending.listing_id) = $1
    ), 0)::bigint as pending
  from (select $1::text as creator) asked left join creator_earnings using (creator)`);

export function createCreatorEarnings(db: Db): CreatorEarnings {
  return {
    async page(creator, { limit, offset, after }) {
      const text =
        prepare(`select listings.id, title, status, ${microsecondsOf('published_at')} as published_at_us,
          coalesce(total_earned_lamports, 0) as earned, coalesce(earnings_lamports, 0) as withdrawable,
          coalesce((
            select sum(price_lamports) from charges
            where charges.listing_id = listings.id and state in ('reserved', 'signed')
          ), 0)::bigint as pending
        from listings left join escrows on escrows.listing_address = listings.address
        where creator = $1 and status <> 'draft'
          ${after ? `and (published_at, listings.id) < (${timeOfMicroseconds('$4')}, $5)` : ''}
        order by published_at desc, listings.id desc limit $2 offset $3`);
      const place = after ? [after.timeUs, after.id] : [];
      const query = CompiledQuery.raw(text, [creator, limit, offset, ...place]);
      return (await db.executeQuery<ListingEarningsRow>(query)).rows;
    },
    async sum(creator) {
      const { rows } = await db.executeQuery<EarningsAmounts & { listingCount: number }>(
        CompiledQuery.raw(SUM, [creator]),
      );
      return rows[0] ?? { listingCount: 0, earned: 0n, withdrawable: 0n, pending: 0n };
    },
  };
}
