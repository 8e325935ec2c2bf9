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

/** Limits and lease times. All times use the database's clock, because the clocks of replicas differ. */
export interface Bounds {
  slots: number;
  queueLength: number;
  /** How many of the places in the queue one wallet may have. */
  ownLength: number;
  /** A lease lapses unless it is renewed, so the slots of a dead replica become free. */
  leaseMs: number;
  /** The lease of a place in the queue, and of a slot that was given to a waiting run and is not claimed yet. */
  claimMs: number;
}

/** The answer to a run that asks for a slot: a slot, a place in the queue, or neither. */
export type Entry = 'seated' | 'waiting' | 'full';

/** Stores who has a slot of a listing, and who waits for one. */
export interface SlotRepository {
  /** Takes a free slot, or where there is none a place in the queue. */
  enter(request: SlotRequest, bounds: Bounds): Promise<Entry>;
  /** Gives free slots to the runs whose turn it is, and returns them. Of concurrent calls, one returns the runs. */
  handOut(listingId: string, bounds: Bounds): Promise<string[]>;
  /** Renews the place or slot of a run in the queue; 'gone' when its place had lapsed. */
  keep(runId: string, bounds: Bounds): Promise<'seated' | 'waiting' | 'gone'>;
  /** Renews the leases of slots. A lapsed lease is not renewed. */
  renew(runIds: string[], bounds: Bounds): Promise<void>;
  /**
   * Gives up a run's slot or place, and announces that the run has changed. Returns the listing when another run waits, which
   * may be next.
   */
  leave(runId: string): Promise<string | undefined>;
  /** Gives up every slot and place. */
  leaveAll(): Promise<void>;
}

const after = (ms: number) => sql<Date>`now() + make_interval(secs => ${ms / 1000})`;

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
const FREE_SEAT = prepare('select free_seat($1, $2) as listing_id');

/** @param channel on which changes of runs are announced */
export function createSlotRepository(db: Db, channel: string): SlotRepository {
  /** Runs under the listing's lock, after lapsed leases are removed. */
  const locked = <T>(listingId: string, work: (tx: Tx) => Promise<T>): Promise<T> =>
    db.transaction().execute(async (tx) => {
      await sql`select pg_advisory_xact_lock(hashtextextended(${listingId}, 0))`.execute(tx);
      // A separate statement waits for a concurrent renewal, and then counts it.
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

  /** Enters several runs of a listing in one statement, in their order, because each statement costs a round trip. */
  const enterInBatches = batchByKey<Entrant, Entry>(async (listingId, entrants) => {
    try {
      return (await enterAll(listingId, entrants)).map((value) => ({ value }));
    } catch (error) {
      if (entrants.length === 1) throw error;
      // A run that is gone cannot enter; the others of the batch still do.
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
   * Serializes the hand-outs of a listing in this process. Calls that come meanwhile share one further hand-out, whose runs
   * the first caller gets. The database serializes them too, but a statement that waits there holds a connection.
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
        CompiledQuery.raw(FREE_SEAT, [runId, channel]),
      );
      return rows[0]?.listing_id ?? undefined;
    },

    async leaveAll() {
      await db.deleteFrom('seats').execute();
      await db.deleteFrom('seat_line').execute();
    },
  };
}

/**
 * Gives free slots to waiting runs in the order of `next_in_line`: wallets below their share, then `priority` before
 * `standard`, then the wallets in turn. Each wallet's oldest run comes first.
 */
async function handOutSlots(tx: Tx, listingId: string, bounds: Bounds): Promise<string[]> {
  const { rows } = await sql<{ run_id: string }>`select run_id from hand_out_seats(
    ${listingId}, ${bounds.slots}, make_interval(secs => ${bounds.claimMs / 1000})) as run_id`.execute(tx);
  return rows.map((row) => row.run_id);
}
