import { pino } from 'pino';
import { afterAll, vi } from 'vitest';
import { openDatabase, type Db } from '../../database/connection.js';
import { openNotifications } from '../../database/notifications.js';
import { insertListing, insertRun, newWallet, openTestDatabase } from '../../testing/index.js';
import { createRunChanges } from '../live/run-changes.js';
import { createSlotRepository } from './slot-repository.js';
import { createSlots, type Slots } from './slots.js';

const logger = pino({ level: 'silent' });
const QUEUE = { maxLength: 100, maxWaitMs: 60_000 };
/** What holds as long as it takes. */
export const BOUNDS = { slots: 20, queueLength: 1000, ownLength: 1000, leaseMs: 60_000, claimMs: 60_000 };
export const never = new AbortController().signal;

/** The parts of one server, over the shared database. */
export async function openReplica(url: string) {
  const database = openDatabase(url, () => undefined, 5);
  const notifications = await openNotifications(database.pool, 'seats_test', logger);
  const changes = createRunChanges(notifications);
  const repository = createSlotRepository(database.db, notifications.channel);
  const slotsWith = (
    queue: Partial<typeof QUEUE> = {},
    leaseMs?: number,
    onWait: () => void = () => undefined,
  ): Slots =>
    createSlots({
      repository,
      changes: {
        announce: (runId) => changes.announce(runId),
        watch(runId) {
          const watch = changes.watch(runId);
          const next: typeof watch.next = (ms, signal) => {
            onWait();
            return watch.next(ms, signal);
          };
          return { next, close: () => watch.close() };
        },
      },
      logger,
      queue: { ...QUEUE, ...queue },
      ...(leaseMs === undefined ? {} : { leaseMs }),
    });
  return {
    repository,
    changes,
    slotsWith,
    slots: slotsWith(),
    close: async () => {
      changes.close();
      await notifications.close();
      await database.close();
    },
  };
}
export type Replica = Awaited<ReturnType<typeof openReplica>>;

/** Servers over the database of a test file. */
export async function openReplicas(count: number) {
  const database = await openTestDatabase();
  afterAll(() => database.close());
  const replicas = await Promise.all(Array.from({ length: count }, () => openReplica(database.url)));
  afterAll(() => Promise.all(replicas.map((replica) => replica.close())));
  const here = replicas[0] as Replica;
  const replicaOf = (index: number) => replicas[index % count] as Replica;
  return { database, here, replicaOf, newListing: () => newListing(database.db, here) };
}

/** A listing, and runs of it that want a slot. */
export async function newListing(db: Db, { slots }: Pick<Replica, 'slots'>) {
  const listing = await insertListing(db);
  const request = async (wallet = newWallet(), isPriority = false) => ({
    runId: await insertRun(db, listing, wallet),
    listingId: listing.id,
    wallet,
    isPriority,
  });
  const count = async (table: 'seats' | 'seat_line') => {
    const rows = await db.selectFrom(table).select('run_id').where('listing_id', '=', listing.id).execute();
    return rows.length;
  };
  /** Takes all twenty slots; gives their runs. */
  const fill = async () => {
    const requests = await Promise.all(Array.from({ length: 20 }, () => request()));
    for (const each of requests) await slots.take(each, never);
    return requests.map(({ runId }) => runId);
  };
  return { id: listing.id, request, count, fill };
}

/** Waits until so many runs are in the queue. */
export const inQueue = (listing: Awaited<ReturnType<typeof newListing>>, count: number) =>
  vi.waitUntil(async () => (await listing.count('seat_line')) === count, { interval: 5, timeout: 15_000 });
