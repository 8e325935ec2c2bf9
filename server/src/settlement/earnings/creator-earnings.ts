import type { ListingStatus } from '@agent-rental/contract';
import { CompiledQuery } from 'kysely';
import type { Owner } from '../../access/owner.js';
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
  /** Part of a creator's published listings that the owner sees, the latest first. */
  page(owner: Owner, range: ListRange): Promise<ListingEarningsRow[]>;
  /** All listings of the page together, at the same cost however many there are, and the number of published ones. */
  sum(owner: Owner): Promise<EarningsAmounts & { listingCount: number }>;
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
  const earnings: CreatorEarnings = {
    async page({ wallet, listingIds }, { limit, offset, after }) {
      const text =
        prepare(`select listings.id, title, status, ${microsecondsOf('published_at')} as published_at_us,
          coalesce(total_earned_lamports, 0) as earned, coalesce(earnings_lamports, 0) as withdrawable,
          coalesce((
            select sum(price_lamports) from charges
            where charges.listing_id = listings.id and state in ('reserved', 'signed')
          ), 0)::bigint as pending
        from listings left join escrows on escrows.listing_address = listings.address
        where creator = $1 and status <> 'draft' and ($4::text[] is null or listings.id = any($4))
          ${after ? `and (published_at, listings.id) < (${timeOfMicroseconds('$5')}, $6)` : ''}
        order by published_at desc, listings.id desc limit $2 offset $3`);
      const place = after ? [after.timeUs, after.id] : [];
      const query = CompiledQuery.raw(text, [wallet, limit, offset, listingIds ?? null, ...place]);
      return (await db.executeQuery<ListingEarningsRow>(query)).rows;
    },
    async sum(owner) {
      if (owner.listingIds !== undefined) {
        // A policy names a hundred listings at most.
        const rows = await earnings.page(owner, { limit: owner.listingIds.length, offset: 0 });
        const add = (of: keyof EarningsAmounts) => rows.reduce((sum, row) => sum + row[of], 0n);
        return {
          listingCount: rows.length,
          earned: add('earned'),
          withdrawable: add('withdrawable'),
          pending: add('pending'),
        };
      }
      const { rows } = await db.executeQuery<EarningsAmounts & { listingCount: number }>(
        CompiledQuery.raw(SUM, [owner.wallet]),
      );
      return rows[0] ?? { listingCount: 0, earned: 0n, withdrawable: 0n, pending: 0n };
    },
  };
  return earnings;
}
