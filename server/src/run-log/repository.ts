import { sql } from 'kysely';
import { MAX_RUN_LOG_BATCH, NO_PREVIOUS_ROOT } from '@agent-rental/program-client';
import { CHARGE_STATES, type ChargeState } from '../database/charge-states.js';
import type { Db, Tx } from '../database/connection.js';
import { inSnapshot } from '../database/snapshot.js';
import type { LoggedRun } from '../runs/index.js';
import { merkleTree, NODE_BYTES } from './merkle-tree.js';

/** Runs that are read, hashed and written between two turns of the event loop. */
const PAGE = 100;

/** The on-chain members of a batch. */
export interface Batch {
  number: bigint;
  count: number;
  previousRoot: Buffer;
  root: Buffer;
}

/** A signed transaction of a batch, as written down before it is sent. */
export interface SignedBatch {
  signature: string;
  signedBytes: Buffer;
  lastValidBlockHeight: bigint;
}

/** A batch without a known final transaction, with all its transactions, oldest first. */
export interface OpenBatch extends Batch {
  signatures: SignedBatch[];
}

/** The newest batch that is known of, in the database or on-chain. */
export interface LogHead {
  number: bigint;
  root: Buffer;
  /** Its final transaction, where there is one. */
  signature: string | null;
}

/** The place of a run in the log. */
type LogPlace =
  | {
      is: 'logged';
      batch: bigint;
      count: number;
      leafIndex: number;
      previousRoot: Buffer;
      root: Buffer;
      signature: string;
    }
  /** `seconds`: until its batch is made; 0 where it is in one already. */
  | { is: 'pending'; seconds: number };

/** Reads and writes the run log. */
export interface RunLogRepository {
  /** Whether runs wait, no batch is open and the last one is old enough. */
  isBatchDue(): Promise<boolean>;
  /** The newest batch of the database. */
  head(): Promise<LogHead | undefined>;
  /**
   * Puts the waiting runs into a batch, in order of arrival, and stores it: runs, number, previous root and root. Two
   * replicas may do this at once while the leader changes: one gets the number, and the call of the other rejects.
   * Runs with a final charge leave the log, and runs with an open charge go on waiting.
   *
   * @param leafOf the leaf of a run
   * @param chainHead the newest batch on-chain; the number of a batch is above it, also where the database is older
   */
  makeBatch(leafOf: (run: LoggedRun) => Buffer, chainHead: LogHead | undefined): Promise<Batch | undefined>;
  /** Claims the open batch if its next attempt is due; the delay of the next one doubles from 2 s up to 16 s. */
  takeOpen(): Promise<OpenBatch | undefined>;
  /** Makes the next attempt of the open batch due now. */
  makeDue(): Promise<void>;
  /**
   * Writes a transaction down, before it is sent. False when another replica has written one since the batch was read: then
   * this one must not be sent.
   */
  recordSignature(batch: OpenBatch, signed: SignedBatch): Promise<boolean>;
  /** Ends an open batch by its final transaction. */
  close(batch: bigint, signature: string): Promise<void>;
  /** The place of a run; undefined for a run that is not for the log. */
  placeOf(runId: string): Promise<LogPlace | undefined>;
  /** Nodes of a batch's tree, by their offsets. */
  nodes(batch: bigint, offsets: readonly number[]): Promise<Buffer[]>;
}

/**
 * Makes the repository.
 *
 * @param how.intervalSeconds the shortest time between two batches
 * @param how.mostRuns the most of a batch, at most {@link MAX_RUN_LOG_BATCH}
 */
export function createRunLogRepository(
  db: Db,
  { intervalSeconds, mostRuns = MAX_RUN_LOG_BATCH }: { intervalSeconds: number; mostRuns?: number },
): RunLogRepository {
  const interval = sql`make_interval(secs => ${intervalSeconds})`;

  async function headOf(query: Db | Tx): Promise<LogHead | undefined> {
    return query
      .selectFrom('run_log_batches')
      .select(['number', 'root', 'signature'])
      .orderBy('number', 'desc')
      .limit(1)
      .executeTakeFirst();
  }

  async function isDue(query: Db | Tx): Promise<boolean> {
    const { rows } = await sql<{ due: boolean }>`
      select not exists (select from run_log_batches where signature is null)
        and not exists (select from run_log_batches where created_at > now() - ${interval})
        and exists (
          select from run_log_entries where batch is null
            -- By the charge's key for each entry: a join may be planned as a scan of all charges.
            and coalesce((select state from charges where charges.run_id = run_log_entries.run_id), 'failed')
              not in ('reserved', 'signed', 'confirmed')
        ) as due`.execute(query);
    return rows[0]?.due === true;
  }

  return {
    isBatchDue: () => isDue(db),
    head: () => headOf(db),

    makeBatch: (leafOf, chainHead) =>
      // Reads the due time, the number and the runs in one snapshot. Of two calls at once, one fails by the other's
      // rows.
      inSnapshot(db, async (tx) => {
        if (!(await isDue(tx))) return undefined;
        const own = await headOf(tx);
        const before = chainHead && (own === undefined || chainHead.number > own.number) ? chainHead : own;
        const number = (before?.number ?? 0n) + 1n;
        const leaves = await fillBatch(tx, number, mostRuns, leafOf);
        if (leaves.length === 0) return undefined;
        const nodes = await merkleTree(leaves);
        const batch: Batch = {
          number,
          count: leaves.length / NODE_BYTES,
          previousRoot: before?.root ?? Buffer.from(NO_PREVIOUS_ROOT, 'hex'),
          root: nodes.subarray(-NODE_BYTES),
        };
        await tx
          .insertInto('run_log_batches')
          .values({
            number,
            leaf_count: batch.count,
            previous_root: batch.previousRoot,
            root: batch.root,
            nodes,
          })
          .execute();
        return batch;
      }),

    async takeOpen() {
      const row = await db
        .updateTable('run_log_batches')
        .set({
          next_attempt_at: sql<Date>`now() + make_interval(secs => 2 * 2 ^ least(attempts, 3))`,
          attempts: sql`attempts + 1`,
        })
        .where('signature', 'is', null)
        .where('next_attempt_at', '<=', sql<Date>`now()`)
        .returning(['number', 'leaf_count', 'previous_root', 'root'])
        .executeTakeFirst();
      if (!row) return undefined;
      const signatures = await db
        .selectFrom('run_log_signatures')
        .select(['signature', 'signed_bytes', 'last_valid_block_height'])
        .where('batch', '=', row.number)
        .orderBy('created_at')
        .execute();
      return {
        number: row.number,
        count: row.leaf_count,
        previousRoot: row.previous_root,
        root: row.root,
        signatures: signatures.map((each) => ({
          signature: each.signature,
          signedBytes: each.signed_bytes,
          lastValidBlockHeight: each.last_valid_block_height,
        })),
      };
    },

    async makeDue() {
      await db
        .updateTable('run_log_batches')
        .set({ next_attempt_at: sql<Date>`now()` })
        .where('signature', 'is', null)
        .execute();
    },

    recordSignature: (batch, signed) =>
      db.transaction().execute(async (tx) => {
        const open = await tx
          .selectFrom('run_log_batches')
          .select('number')
          .where('number', '=', batch.number)
          .where('signature', 'is', null)
          .forUpdate()
          .executeTakeFirst();
        const { count } = await tx
          .selectFrom('run_log_signatures')
          .where('batch', '=', batch.number)
          .select((eb) => eb.fn.countAll<bigint>().as('count'))
          .executeTakeFirstOrThrow();
        if (!open || Number(count) !== batch.signatures.length) return false;
        await tx
          .insertInto('run_log_signatures')
          .values({
            signature: signed.signature,
            batch: batch.number,
            signed_bytes: signed.signedBytes,
            last_valid_block_height: signed.lastValidBlockHeight,
          })
          .execute();
        // A new transaction is looked at as often as the first one.
        await tx
          .updateTable('run_log_batches')
          .set({ attempts: 0 })
          .where('number', '=', batch.number)
          .execute();
        return true;
      }),

    async close(batch, signature) {
      await db
        .updateTable('run_log_batches')
        .set({ signature })
        .where('number', '=', batch)
        .where('signature', 'is', null)
        .execute();
    },

    async placeOf(runId) {
      const row = await db
        .selectFrom('run_log_entries as entry')
        .leftJoin('run_log_batches as batch', 'batch.number', 'entry.batch')
        .where('entry.run_id', '=', runId)
        .select([
          'entry.leaf_index',
          'batch.number',
          'batch.leaf_count',
          'batch.previous_root',
          'batch.root',
          'batch.signature',
          // Batches that have to be made before its own, which are full, and the time until the next one may be made.
          sql<number | null>`case when entry.batch is null then
            greatest(0, extract(epoch from ${interval} - (now() - (select max(created_at) from run_log_batches))))
            + ${intervalSeconds} * floor((entry.seq - (select min(seq) from run_log_entries where batch is null))
              / ${mostRuns}::float8)
          end`.as('seconds'),
        ])
        .executeTakeFirst();
      if (!row) return undefined;
      const { number, leaf_count: count, leaf_index: leafIndex, root, signature } = row;
      if (number === null || count === null || leafIndex === null || root === null || signature === null) {
        return { is: 'pending', seconds: Math.ceil(row.seconds ?? 0) };
      }
      const previousRoot = row.previous_root ?? Buffer.alloc(NODE_BYTES);
      return { is: 'logged', batch: number, count, leafIndex, previousRoot, root, signature };
    },

    async nodes(batch, offsets) {
      const { rows } = await sql<{ node: Buffer }>`
        select substring(nodes from place.at + 1 for ${NODE_BYTES}) as node
        from run_log_batches, unnest(${[...offsets]}::integer[]) with ordinality as place (at, position)
        where number = ${batch} order by position`.execute(db);
      return rows.map(({ node }) => node);
    },
  };
}

/** Gives runs that wait their places in a batch; gives their leaves, one after the other. */
async function fillBatch(
  tx: Tx,
  batch: bigint,
  mostRuns: number,
  leafOf: (run: LoggedRun) => Buffer,
): Promise<Buffer> {
  const pages: Buffer[] = [];
  let count = 0;
  for (let after = 0n; count < mostRuns;) {
    const page = await tx
      .selectFrom('run_log_entries')
      .select(['seq', 'run_id'])
      .where('batch', 'is', null)
      .where('seq', '>', after)
      .orderBy('seq')
      .limit(Math.min(PAGE, mostRuns - count))
      .execute();
    const last = page.at(-1);
    if (!last) break;
    const { leaves, logged, charged } = await judgePage(
      tx,
      page.map(({ run_id: id }) => id),
      leafOf,
    );
    if (logged.length > 0) {
      await sql`
        update run_log_entries set batch = ${batch}, leaf_index = ${count} + place.position - 1
        from unnest(${logged}::uuid[]) with ordinality as place (id, position)
        where run_id = place.id and batch is null`.execute(tx);
    }
    if (charged.length > 0) {
      await tx
        .deleteFrom('run_log_entries')
        .where('batch', 'is', null)
        .where('run_id', 'in', charged)
        .execute();
    }
    pages.push(Buffer.concat(leaves));
    count += leaves.length;
    after = last.seq;
  }
  return Buffer.concat(pages);
}

/** Judges a page of waiting runs: some get a leaf, some have a final charge, and the others wait on. */
async function judgePage(tx: Tx, ids: string[], leafOf: (run: LoggedRun) => Buffer) {
  // By their keys, one table after the other: a join would be planned by statistics that may be an hour old.
  const runs = await tx
    .selectFrom('runs')
    .select([
      'id',
      'wallet',
      'listing_id',
      'status',
      'input_digest',
      'output_digest',
      'created_at',
      'finished_at',
      'is_trial',
      sql<number>`(select number from agent_versions where id = runs.version_id)`.as('number'),
      sql<LoggedRun['change_kind']>`(select change_kind from agent_versions where id = runs.version_id)`.as(
        'change_kind',
      ),
    ])
    .where('id', '=', sql<string>`any(${ids}::uuid[])`)
    .where('status', '!=', 'running')
    .execute();
  const charges = await tx
    .selectFrom('charges')
    .select(['run_id', 'state'])
    .where('run_id', '=', sql<string>`any(${ids}::uuid[])`)
    .execute();
  const byId = new Map(runs.map((run) => [run.id, run]));
  const states = new Map(charges.map(({ run_id: id, state }) => [id, state]));
  const judged = { leaves: [] as Buffer[], logged: [] as string[], charged: [] as string[] };
  for (const id of ids) {
    const run = byId.get(id);
    const end = endOf(states.get(id));
    if (end === 'charged') judged.charged.push(id);
    else if (end === 'free' && run) {
      judged.leaves.push(leafOf(run));
      judged.logged.push(id);
    }
  }
  return judged;
}

/** A run's place in the log, by its charge if it has one. */
function endOf(charge: ChargeState | undefined): 'charged' | 'free' | 'open' {
  if (charge === undefined) return 'free';
  const { isOpen, isPaid } = CHARGE_STATES[charge];
  if (isOpen) return 'open';
  return isPaid ? 'charged' : 'free';
}
