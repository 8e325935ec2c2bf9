import { operations, solFromLamports, type Earnings } from '@agent-rental/contract';
import type { FastifyInstance } from 'fastify';
import { sql } from 'kysely';
import type { Db } from '../database/connection.js';
import { addOperation } from '../http/operation-route.js';

interface EarningsRow {
  id: string;
  title: string;
  status: 'active' | 'paused' | 'closed';
  earned: bigint;
  withdrawable: bigint;
  pending: bigint;
}

/** What a creator's listings earn: escrows as the index has them from the chain, and charges on their way there. */
export function earningsRoutes(app: FastifyInstance, db: Db): void {
  addOperation(app, operations.getEarnings, async ({ principal, query }) => {
    const rows = await readEarnings(db, principal.wallet);
    return {
      earnings: rows
        .slice(query.offset, query.offset + query.limit)
        .map((row) => ({ listing_id: row.id, title: row.title, status: row.status, ...amounts(row) })),
      total: rows.length,
      sum: amounts({
        earned: sum(rows.map((row) => row.earned)),
        withdrawable: sum(rows.map((row) => row.withdrawable)),
        pending: sum(rows.map((row) => row.pending)),
      }),
    };
  });
}

/** All published listings of a creator, the latest first. One creator has few. */
async function readEarnings(db: Db, creator: string): Promise<EarningsRow[]> {
  const { rows } = await sql<EarningsRow>`
    select listings.id, listings.title, listings.status,
      coalesce(escrows.total_earned_lamports, 0) as earned,
      coalesce(escrows.earnings_lamports, 0) as withdrawable,
      coalesce((
        select sum(price_lamports) from charges
        where charges.listing_id = listings.id and state in ('reserved', 'signed')
      ), 0)::bigint as pending
    from listings left join escrows on escrows.listing_address = listings.address
    where listings.creator = ${creator} and listings.status <> 'draft'
    order by listings.published_at desc, listings.id`.execute(db);
  return rows;
}

function amounts({
  earned,
  withdrawable,
  pending,
}: Pick<EarningsRow, 'earned' | 'withdrawable' | 'pending'>): Earnings['sum'] {
  return {
    earned_lamports: Number(earned),
    earned_sol: solFromLamports(earned),
    withdrawable_lamports: Number(withdrawable),
    withdrawable_sol: solFromLamports(withdrawable),
    pending_lamports: Number(pending),
    pending_sol: solFromLamports(pending),
  };
}

function sum(values: bigint[]): bigint {
  return values.reduce((total, value) => total + value, 0n);
}
