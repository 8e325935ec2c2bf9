import { isSequenceConsumed, sequenceState } from '@agent-rental/program-client';
import { sql, type Insertable } from 'kysely';
import { windowFromBytes } from '../credentials/index.js';
import { ApiError } from '../platform/api-error.js';
import type { Db, Tx } from '../platform/database/database.js';
import type { Database } from '../platform/database/schema.js';
import { together, type Outcome } from '../platform/together.js';
import type { ChargeOrder, ChargeRow } from './charge-repository.js';

type NewCharge = Insertable<Database['charges']>;

function newCharge(order: ChargeOrder, sequence: bigint): NewCharge {
  return {
    run_id: order.runId,
    wallet: order.wallet,
    listing_id: order.listingId,
    balance_address: order.balanceAddress,
    price_lamports: order.priceLamports,
    sequence,
    state: 'reserved',
  };
}

/** The program keeps 256 sequences apart; a reservation must never fall out of that window while open. */
const WINDOW = 255n;

/** What a balance still has for the next charge, and the sequences that are taken. */
interface Room {
  snapshot: Parameters<typeof sequenceState>[0];
  availableLamports: bigint;
  /** Of open charges that the snapshot does not know of, and where there is none, the next one. */
  lowestPending: bigint | undefined;
  highest: bigint;
}

/**
 * Makes the way in which charges are reserved: against one snapshot of the balance and under its row lock, those that wait
 * for each other in one transaction.
 */
export function createReservations(db: Db): (order: ChargeOrder) => Promise<ChargeRow> {
  /** Under the balance's row lock: the room there is, by one snapshot of the chain. */
  async function roomOf(tx: Tx, address: string): Promise<Room | undefined> {
    const balance = await tx
      .selectFrom('balances')
      .selectAll()
      // Nothing is sent before its signature is written down for good, and this with it: so nobody waits for the disk here.
      .select(sql`set_config('synchronous_commit', 'off', true)`.as('_'))
      .where('address', '=', address)
      .forUpdate()
      .executeTakeFirst();
    if (!balance) return undefined;
    const snapshot = {
      highestSequence: balance.highest_sequence,
      window: windowFromBytes(balance.window_bits),
    };
    // The newest of all, whatever its state, comes with those that are open.
    const { rows } = await sql<{ sequence: bigint; price_lamports: bigint; is_open: boolean }>`
      select sequence, price_lamports, true as is_open from charges
        where balance_address = ${address} and state in ('reserved', 'signed', 'confirmed')
      union all
      (select sequence, price_lamports, false from charges
        where balance_address = ${address} order by sequence desc limit 1)`.execute(tx);
    // A charge whose bit is set in this snapshot is already out of the snapshot's balance.
    const pending = rows.filter((row) => row.is_open && !isSequenceConsumed(snapshot, row.sequence));
    const spoken = pending.reduce((sum, charge) => sum + charge.price_lamports, 0n);
    return {
      snapshot,
      availableLamports: balance.balance_lamports - spoken,
      lowestPending: pending.reduce<bigint | undefined>(
        (low, { sequence }) => (low === undefined || sequence < low ? sequence : low),
        undefined,
      ),
      highest: rows.reduce(
        (high, { sequence }) => (sequence > high ? sequence : high),
        snapshot.highestSequence,
      ),
    };
  }

  /** Takes a charge out of the room. @throws ApiError when there is none for it. */
  function takeRoom(room: Room | undefined, { priceLamports }: ChargeOrder): bigint {
    if (!room) throw insufficient(0n, priceLamports);
    if (room.availableLamports < priceLamports) throw insufficient(room.availableLamports, priceLamports);
    const sequence = room.highest + 1n;
    const lowest = room.lowestPending ?? sequence;
    if (sequence - lowest > WINDOW || sequenceState(room.snapshot, sequence) !== 'free') {
      throw new ApiError(
        'service_unavailable',
        'Too many charges of this rental are still open. Try again.',
        { retryAfterSeconds: 5 },
      );
    }
    room.availableLamports -= priceLamports;
    room.lowestPending = lowest;
    room.highest = sequence;
    return sequence;
  }

  /** The reservations of one balance that wait for each other, in one transaction. */
  const reserveTogether = together<ChargeOrder, ChargeRow>((address, orders) =>
    db.transaction().execute(async (tx) => {
      const room = await roomOf(tx, address);
      const taken = orders.map((order): Outcome<NewCharge> => {
        try {
          return { value: newCharge(order, takeRoom(room, order)) };
        } catch (error) {
          return { error };
        }
      });
      const charges = taken.flatMap((outcome) => ('value' in outcome ? [outcome.value] : []));
      const rows =
        charges.length === 0 ? [] : await tx.insertInto('charges').values(charges).returningAll().execute();
      const rowOf = new Map(rows.map((row) => [row.run_id, row]));
      return taken.map((outcome): Outcome<ChargeRow> => {
        const row = 'value' in outcome ? rowOf.get(outcome.value.run_id) : undefined;
        return row ? { value: row } : (outcome as { error: unknown });
      });
    }),
  );

  return (order) => reserveTogether(order.balanceAddress, order);
}

function insufficient(available: bigint, price: bigint): ApiError {
  return new ApiError(
    'insufficient_balance',
    `The prepaid balance has ${available} lamports left for new runs; one costs ${price}. Top it up.`,
  );
}
