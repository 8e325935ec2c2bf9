import { Kysely, PostgresDialect, type CompiledQuery } from 'kysely';
import type { Pool, PoolClient } from 'pg';
import type { Db } from '../database/connection.js';
import type { Database } from '../database/schema.js';

/** A part of a plan, as PostgreSQL explains it after it ran. */
interface PlanPart {
  'Relation Name'?: string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  'Rows Removed by Index Recheck'?: number;
  Plans?: PlanPart[];
}

/**
 * Counts the rows that queries read of each table, the ones that they read in vain included, with plans for large tables.
 *
 * @param use makes the queries, with the database that it is given
 */
export async function rowsRead(pool: Pool, use: (db: Db) => Promise<unknown>): Promise<Map<string, number>> {
  const sent: CompiledQuery[] = [];
  const dialect = new PostgresDialect({ pool });
  await use(new Kysely<Database>({ dialect, log: ({ query }) => void sent.push(query) }));
  const rows = new Map<string, number>();
  const client = await pool.connect();
  try {
    // The best plan for a table as small as a test's is often to read all of it; this is about large ones.
    for (const plan of ['seqscan', 'hashjoin', 'mergejoin', 'sort']) {
      await client.query(`set enable_${plan} = off`);
    }
    for (const { sql, parameters } of sent) {
      await client.query(`prepare explained as ${sql}`);
      const values = parameters.map((value) =>
        value === null
          ? 'null'
          : client.escapeLiteral(
              value instanceof Date ? value.toISOString() : String(value as string | number | bigint),
            ),
      );
      // With a plan for these values and with one for any: a prepared statement has the one or the other.
      const plans = [];
      for (const mode of ['custom', 'generic']) {
        await client.query(`set plan_cache_mode = force_${mode}_plan`);
        plans.push(await readRows(client, `execute explained(${values.join(', ')})`));
      }
      await client.query('deallocate explained');
      for (const table of new Set(plans.flatMap((plan) => [...plan.keys()]))) {
        const most = Math.max(...plans.map((plan) => plan.get(table) ?? 0));
        rows.set(table, (rows.get(table) ?? 0) + most);
      }
    }
  } finally {
    client.release(true);
  }
  return rows;
}

async function readRows(client: PoolClient, statement: string): Promise<Map<string, number>> {
  const explained = await client.query<{ 'QUERY PLAN': { Plan: PlanPart }[] }>(
    `explain (analyze, timing off, format json) ${statement}`,
  );
  const rows = new Map<string, number>();
  const visit = (part: PlanPart): void => {
    const table = part['Relation Name'];
    const inVain = (part['Rows Removed by Filter'] ?? 0) + (part['Rows Removed by Index Recheck'] ?? 0);
    if (table !== undefined) {
      rows.set(table, (rows.get(table) ?? 0) + (part['Actual Rows'] + inVain) * part['Actual Loops']);
    }
    for (const inner of part.Plans ?? []) visit(inner);
  };
  for (const { Plan } of explained.rows[0]?.['QUERY PLAN'] ?? []) visit(Plan);
  return rows;
}
