import { operations, solFromLamports, type Earnings } from '@agent-rental/contract';
import type { FastifyInstance } from 'fastify';
import { ownerOf } from '../../access/owner.js';
import type { Db } from '../../database/connection.js';
import { readListPage } from '../../database/list-page.js';
import { addOperation } from '../../http/operation-route.js';
import { createCreatorEarnings, type EarningsAmounts } from './creator-earnings.js';

/** The form of a listing's id. */
const LISTING_ID = /^[a-z0-9-]{1,64}$/;

/** The earnings of a creator's listings: escrows by the index, and charges on their way there. */
export function earningsRoutes(app: FastifyInstance, db: Db): void {
  const earnings = createCreatorEarnings(db);
  addOperation(app, operations.getEarnings, async ({ principal, query }) => {
    const owner = ownerOf(principal);
    const sum = await earnings.sum(owner);
    const { rows, total, end } = await readListPage(
      {
        name: 'earnings',
        isId: (text) => LISTING_ID.test(text),
        read: (range) => earnings.page(owner, range),
        positionOf: (row) => ({ timeUs: row.published_at_us, id: row.id }),
        count: async () => ({ total: sum.listingCount, isMinimum: false }),
      },
      query,
    );
    return {
      earnings: rows.map((row) => ({
        listing_id: row.id,
        title: row.title,
        status: row.status,
        ...amounts(row),
      })),
      total,
      sum: amounts(sum),
      ...end,
    };
  });
}

function amounts({ earned, withdrawable, pending }: EarningsAmounts): Earnings['sum'] {
  return {
    earned_lamports: Number(earned),
    earned_sol: solFromLamports(earned),
    withdrawable_lamports: Number(withdrawable),
    withdrawable_sol: solFromLamports(withdrawable),
    pending_lamports: Number(pending),
    pending_sol: solFromLamports(pending),
  };
}
