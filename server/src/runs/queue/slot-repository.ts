import { CompiledQuery, sql } from 'kysely';
import type { Db, Tx } from '../../database/connection.js';
import { prepare } from '../../database/prepared-statements.js';
import { batchByKey, type Outcome } from '../../database/batch-by-key.js';

/** A run that wants a slot. */
export interface SlotRequest {
  runId: string;
  listingId: string;
  wallet: string;
  isPriority: boolean;
}

/** What is held, and for how long. Times are by the database's clock alone: replicas' clocks differ. */
interface Bounds {
  slots: number;
  queueLength: number;
  /** How many of the places in the queue one wallet may have. */
  ownLength: number;
  /** A lease ends by itself unless it is renewed: so the slots of a replica that died become free. */
  leaseMs: number;
  /** As long for a place in the queue, and for a slot that was handed to it before it is taken. */
  claimMs: number;
}

/** Stores who has a slot of a listing, and who waits for one. */
export interface SlotRepository {
  /** Takes a free slot, or where there is none a place in the queue. */
  enter(request: SlotRequest, bounds: Bounds): Promise<'seated' | 'waiting' | 'full'>;
  /** Gives free slots to the runs whose turn it is, and returns them. Of calls at the same time one gets the runs. */
  handOut(listingId: string, bounds: Bounds): Promise<string[]>;
  /** Renews what a run in the queue has; 'gone' when it had let its place lapse. */
  keep(runId: string, bounds: Bounds): Promise<'seated' | 'waiting' | 'gone'>;
  /** Renews the leases of slots. What has lapsed stays so. */
  renew(runIds: string[], bounds: Bounds): Promise<void>;
  /** Gives up a run's slot, or its place. Gives the listing if another run waits, whose turn may have come by it. */
  leave(runId: string): Promise<string | undefined>;
  /** Gives up every slot and place. */
  leaveAll(): Promise<void>;
}

const after = (ms: number) => sql<Date>`now() + make_interval(secs => ${ms / 1000})`;

type Entry = 'seated' | 'waiting' | 'full';

/** A request to enter. */
interface Entrant {
  request: SlotRequest;
  bounds: Bounds;
}

const TAKE_SEATS = prepare(`
  select take_seat(run_id, $1, wallet, is_priority, slots, line_length, own_length,
    make_interval(secs => lease), make_interval(secs => claim)) as entry
  from unnest($2::uuid[], $3::text[], $4::boolean[], $5::integer[], $6::integer[], $7::integer[], $8::float8[], $9::float8[])
    as entrant (run_id, wallet, is_priority, slots, line_length, own_length, lease, claim)`);
const LEAVE_SEAT = prepare('select leave_seat($1) as listing_id');

export function createSlotRepository(db: Db): SlotRepository {
  /** Under the listing's lock, with nothing left of what has lapsed. */
  const locked = <T>(listingId: string, work: (tx: Tx) => Promise<T>): Promise<T> =>
    db.transaction().execute(async (tx) => {
      await sql`select pg_advisory_xact_lock(hashtextextended(${listingId}, 0))`.execute(tx);
      // A statement of its own: it waits for a renewal at this moment, and then counts it.
      await sql`with lapsed as (delete from seats where listing_id = ${listingId} and expires_at <= now())
        delete from seat_line where listing_id = ${listingId} and expires_at <= now()`.execute(tx);
      return work(tx);
    });

  const enterAll = async (listingId: string, entrants: readonly Entrant[]): Promise<Entry[]> => {
    const { rows } = await db.executeQuery<{ entry: Entry }>(
      CompiledQuery.raw(TAKE_SEATS, [
        listingId,
        entrants.map(({ request }) => request.runId),
        entrants.map(({ request }) => request.wallet),
        entrants.map(({ request }) => request.isPriority),
        entrants.map(({ bounds }) => bounds.slots),
        entrants.map(({ bounds }) => bounds.queueLength),
        entrants.map(({ bounds }) => bounds.ownLength),
        entrants.map(({ bounds }) => bounds.leaseMs / 1000),
        entrants.map(({ bounds }) => bounds.claimMs / 1000),
      ]),
    );
    return rows.map(({ entry }) => entry);
  };

  /** Requests to enter a listing in one statement, in their order: it is the statements that take time. */
  const enterInBatches = batchByKey<Entrant, Entry>(async (listingId, entrants) => {
    try {
      return (await enterAll(listingId, entrants)).map((value) => ({ value }));
    } catch (error) {
      if (entrants.length === 1) throw error;
      // One that cannot be let in, because its run is gone, does not keep out the others.
      const outcomes: Outcome<Entry>[] = [];
      for (const entrant of entrants) {
        outcomes.push(
          await enterAll(listingId, [entrant]).then(
            ([value = 'full']) => ({ value }),
            (reason: unknown) => ({ error: reason }),
          ),
        );
      }
      return outcomes;
    }
  });

  /**
   * Hand-outs of a listing, one at a time. Those that are asked for meanwhile are one more, which gives its runs to the
   * first caller. Here too, not only in the database: a statement that waits there for the lock holds a connection.
   */
  const handOutInBatches = batchByKey<Bounds, string[]>(async (listingId, callers) => {
    const [bounds] = callers as [Bounds];
    const runs = await locked(listingId, (tx) => handOutSlots(tx, listingId, bounds));
    return callers.map((_, index) => ({ value: index === 0 ? runs : [] }));
  });

  return {
    enter: (request, bounds) => enterInBatches(request.listingId, { request, bounds }),

    handOut: (listingId, bounds) => handOutInBatches(listingId, bounds),

    async keep(runId, bounds) {
      const { rows } = await sql<{ seated: boolean; waiting: boolean }>`
        with seat as (update seats set expires_at = ${after(bounds.leaseMs)}
            where run_id = ${runId} and expires_at > now() returning 1),
          place as (update seat_line set expires_at = ${after(bounds.claimMs)}
            where run_id = ${runId} and expires_at > now() returning 1)
        select exists (select from seat) as seated, exists (select from place) as waiting`.execute(db);
      if (rows[0]?.seated) return 'seated';
      return rows[0]?.waiting ? 'waiting' : 'gone';
    },

    async renew(runIds, bounds) {
      await db
        .updateTable('seats')
        .set({ expires_at: after(bounds.leaseMs) })
        .where('run_id', 'in', runIds)
        .where('expires_at', '>', sql<Date>`now()`)
        .execute();
    },

    async leave(runId) {
      const { rows } = await db.executeQuery<{ listing_id: string | null }>(
        CompiledQuery.raw(LEAVE_SEAT, [runId]),
      );
      const listingId = rows[0]?.listing_id ?? undefined;
      if (listingId === undefined) return undefined;
      // Looked for after the slot is free: a run that enters the queue later sees that it is.
      const waiting = await db
        .selectFrom('seat_line')
        .select('run_id')
        .where('listing_id', '=', listingId)
        .limit(1)
        .executeTakeFirst();
      return waiting && listingId;
    },

    async leaveAll() {
      await db.deleteFrom('seats').execute();
      await db.deleteFrom('seat_line').execute();
    },
  };
}

/**
 * Gives the free slots to those whose turn it is: first to wallets that hold less than their share, of these `priority`
 * before `standard`, in each one wallet after the other, of a wallet what came first (`next_in_line`).
 */
async function handOutSlots(tx: Tx, listingId: string, bounds: Bounds): Promise<string[]> {
  const { rows } = await sql<{ run_id: string }>`select run_id from hand_out_seats(
    ${listingId}, ${bounds.slots}, make_interval(secs => ${bounds.claimMs / 1000})) as run_id`.execute(tx);
  return rows.map((row) => row.run_id);
}
