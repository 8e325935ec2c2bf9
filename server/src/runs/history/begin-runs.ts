import { CompiledQuery } from 'kysely';
import type { Owner } from '../../access/owner.js';
import type { Db } from '../../database/connection.js';
import { batchByKey, type Outcome } from '../../database/batch-by-key.js';
import { prepare } from '../../database/prepared-statements.js';
import { freeFrom, type CallKey, type RunCallback } from '../task.js';
import type { Bounds, Entry } from '../queue/slot-repository.js';

/** The stored name of an idempotency key. It begins with the owner, because each owner has separate keys. A sent name has no space. */
export const storedKey = ({ apiKeyId }: Owner, name: string): string =>
  apiKeyId === undefined ? name : `${apiKeyId} ${name}`;

/** A run about to begin. */
export interface NewRun {
  id: string;
  listingId: string;
  versionId: string;
  owner: Owner;
  key: CallKey | undefined;
  requestDigest: Buffer;
  salt: Buffer;
  inputDigest: Buffer;
  callback?: RunCallback | undefined;
}

/** How a run begins. */
export interface Beginning {
  /** The caller is told of the run before anything of it is spent or answered: a crash of the database must not lose it. */
  isDurable?: boolean | undefined;
  /** Takes a slot of the listing, or a place in its queue, with the record; absent: the run enters later. */
  seat?: { isPriority: boolean; bounds: Bounds } | undefined;
}

/** A run that is on record. */
export interface StartedRun {
  /** Undefined for a run that enters later. */
  readonly entry: Entry | undefined;
}

const START_RUNS = prepare(`
  select started, entry from start_runs($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16,
    make_interval(secs => $17), make_interval(secs => $18), $19, $20)`);
/** Codes of PostgreSQL after which a transaction was not carried out, because of one of its runs or of another transaction. */
const FAULT_OF_ONE = /^(?:23|40)/;

/**
 * Makes the function that records runs and enters them. Runs of a listing that start together are one statement: each
 * statement costs a round trip and waits for the listing's lock. `start_runs` is its SQL function.
 */
export function createBeginRun(db: Db): (run: NewRun, how?: Beginning) => Promise<StartedRun | undefined> {
  interface Item {
    run: NewRun;
    how: Beginning;
  }
  const beginAll = async (items: readonly Item[]): Promise<(StartedRun | undefined)[]> => {
    const of = <T>(read: (item: Item) => T) => items.map(read);
    const bounds = items.find(({ how }) => how.seat)?.how.seat?.bounds;
    const { rows } = await db.executeQuery<{ started: boolean; entry: Entry | null }>(
      CompiledQuery.raw(START_RUNS, [
        items[0]?.run.listingId,
        items.some(({ how }) => how.isDurable === true),
        of(({ run }) => run.id),
        of(({ run }) => run.versionId),
        of(({ run }) => run.owner.wallet),
        of(({ run }) => run.owner.apiKeyId ?? null),
        of(({ run: { owner, key } }) => key && storedKey(owner, key.name)),
        of(({ run: { key } }) => (key?.windowSeconds === undefined ? null : freeFrom(key.windowSeconds))),
        of(({ run }) => run.requestDigest),
        of(({ run }) => run.salt),
        of(({ run }) => run.inputDigest),
        of(({ how }) => how.seat !== undefined),
        of(({ how }) => how.seat?.isPriority === true),
        bounds?.slots ?? 0,
        bounds?.queueLength ?? 0,
        bounds?.ownLength ?? 0,
        (bounds?.leaseMs ?? 0) / 1000,
        (bounds?.claimMs ?? 0) / 1000,
        of(({ run }) => run.callback?.url),
        of(({ run }) => run.callback?.events?.join()),
      ]),
    );
    return rows.map(({ started, entry }) => (started ? { entry: entry ?? undefined } : undefined));
  };

  // Runs that wait for the disk are separate batches: they hold the listing's lock for that time.
  const beginInBatches = batchByKey<Item, StartedRun | undefined>(async (_, items) => {
    try {
      return (await beginAll(items)).map((value) => ({ value }));
    } catch (error) {
      const { code } = error as { code?: unknown };
      if (items.length === 1 || typeof code !== 'string' || !FAULT_OF_ONE.test(code)) throw error;
      // One run cannot start: the others start one by one.
      const outcomes: Outcome<StartedRun | undefined>[] = [];
      for (const item of items) {
        outcomes.push(
          await beginAll([item]).then(
            ([value]) => ({ value }),
            (reason: unknown) => ({ error: reason }),
          ),
        );
      }
      return outcomes;
    }
  });

  return (run, how = {}) =>
    beginInBatches(`${how.isDurable === true ? 'durable ' : ''}${run.listingId}`, { run, how });
}
