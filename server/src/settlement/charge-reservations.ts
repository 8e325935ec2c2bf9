import { CompiledQuery } from 'kysely';
import { ApiError } from '../errors/api-error.js';
import type { Db } from '../database/connection.js';
import { prepare } from '../database/prepared-statements.js';
import { batchByKey, type Outcome } from '../database/batch-by-key.js';
import type { ChargeOrder, ReservedCharge } from './charge.js';

const RESERVE_CHARGES = prepare(
  'select outcome, new_sequence, available, is_at_start from reserve_run_charges($1, $2, $3, $4, $5)',
);

/** The database's answer to one order. */
interface Reserved {
  outcome: 'credited' | 'reserved' | 'insufficient' | 'full' | 'suspended';
  /** Of a reservation. */
  new_sequence: bigint | null;
  /** The rest of the balance for this order. */
  available: bigint;
  is_at_start: boolean;
}

/**
 * Creates the function that reserves charges against one snapshot of the balance, under its row lock. Orders that wait for
 * the same lock share one statement; `reserve_run_charges` is its SQL function.
 */
export function createReservations(db: Db): (order: ChargeOrder) => Promise<ReservedCharge | 'credited'> {
  /** The reservations of one balance, which is of one wallet and one listing. */
  const reserveInBatches = batchByKey<ChargeOrder, ReservedCharge | 'credited'>(async (address, orders) => {
    const [{ wallet, listingId } = { wallet: '', listingId: '' }] = orders;
    const runIds = orders.map(({ runId }) => runId);
    const prices = orders.map(({ priceLamports }) => String(priceLamports));
    const { rows } = await db.executeQuery<Reserved>(
      CompiledQuery.raw(RESERVE_CHARGES, [address, wallet, listingId, runIds, prices]),
    );
    return rows.map((row, index) => toOutcome(row, orders[index]));
  });

  return (order) => reserveInBatches(order.balanceAddress, order);
}

function toOutcome(
  { outcome, new_sequence: sequence, available, is_at_start: isAtStart }: Reserved,
  order: ChargeOrder | undefined,
): Outcome<ReservedCharge | 'credited'> {
  if (outcome === 'credited') return { value: outcome };
  if (outcome === 'reserved' && sequence !== null && order) {
    const { runId, wallet, listingId, balanceAddress, priceLamports } = order;
    return {
      value: {
        run_id: runId,
        wallet,
        listing_id: listingId,
        balance_address: balanceAddress,
        price_lamports: priceLamports,
        sequence,
        isAtStart,
      },
    };
  }
  if (outcome === 'suspended') {
    const message =
      'Several charges of this rental failed on-chain within the last hour: its balance, its agreed price or ' +
      'the listing changed during runs.';
    const next = 'Nothing was charged; try again later.';
    return { error: new ApiError('service_unavailable', message, { next, retryAfterSeconds: 600 }) };
  }
  if (outcome === 'full') {
    const message = 'This rental has as many charges that are not final yet as the program keeps apart: 255.';
    const next = 'Nothing was charged; try again once some are final.';
    return { error: new ApiError('rate_limit_exceeded', message, { next, retryAfterSeconds: 5 }) };
  }
  const message =
    `The prepaid balance has ${available} lamports left for new runs; one costs ` +
    `${order?.priceLamports ?? 0n}.`;
  return { error: new ApiError('insufficient_balance', message, { next: 'Top it up.' }) };
}
