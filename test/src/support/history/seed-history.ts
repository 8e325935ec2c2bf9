import type { Pool, PoolClient } from 'pg';
import { loadInBulk } from './bulk-load.js';
import { historySteps, type HistorySize } from './statements.js';

export type { HistorySize } from './statements.js';

/** Fills a migrated database with the rows of a marketplace of that size, without its chain. */
export async function seedHistory(
  pool: Pool,
  size: HistorySize,
  { busyWallet, progress = () => undefined }: SeedOptions,
): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query(
      `set synchronous_commit = off; set work_mem = '256MB'; set maintenance_work_mem = '256MB'`,
    );
    const step = async (name: string, work: () => Promise<unknown>) => {
      const startedAt = performance.now();
      await work();
      progress(`${name}: ${((performance.now() - startedAt) / 1000).toFixed(1)} s`);
    };
    await step('all rows', () =>
      loadInBulk(client, async () => {
        for (const { name, statements } of historySteps(size, busyWallet))
          await step(name, async () => {
            for (const statement of statements) await client.query(statement);
          });
      }),
    );
    await step('vacuum and statistics', () => client.query('vacuum (analyze)'));
    await client.query('reset all');
  } finally {
    client.release();
  }
}

/** Options of `seedHistory`. */
export interface SeedOptions {
  /** Has every tenth run and rental, and every twentieth listing. */
  readonly busyWallet: string;
  progress?(line: string): void;
}

/** How many rows PostgreSQL estimates for each table of the service, partitions counted for their table. */
export async function rowEstimates(pool: Pool | PoolClient): Promise<ReadonlyMap<string, number>> {
  const { rows } = await pool.query<{ name: string; rows: number }>(
    `select coalesce(pg_partition_root(pg_class.oid)::regclass, pg_class.oid::regclass)::text as name,
        sum(greatest(reltuples, 0))::float8 as rows
      from pg_class join pg_namespace on pg_namespace.oid = relnamespace
      where nspname = 'public' and relkind in ('r', 'p')
        and (relkind = 'r' or not exists (select from pg_inherits where inhparent = pg_class.oid))
      group by 1`,
  );
  return new Map(rows.map((row) => [row.name, row.rows]));
}

/** The table of each relation of the service: the relation itself, or the table that it is a partition of. */
export async function partitionRoots(pool: Pool | PoolClient): Promise<ReadonlyMap<string, string>> {
  const { rows } = await pool.query<{ name: string; root: string }>(
    `select relname as name, coalesce(pg_partition_root(pg_class.oid)::regclass, pg_class.oid::regclass)::text as root
      from pg_class join pg_namespace on pg_namespace.oid = relnamespace
      where nspname = 'public' and relkind in ('r', 'p')`,
  );
  return new Map(rows.map(({ name, root }) => [name, root]));
}
