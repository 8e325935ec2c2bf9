import type { Pool } from 'pg';
import { until } from '@agent-rental/test/support/timing/until';
import { call } from '@agent-rental/test/support/http';
import { newRenters } from '../harness/market.js';
import type { Sheet } from '../report.js';
import { walOf } from '../runs.js';
import type { GrownMarket } from './grown-market.js';
import type { Sizes } from './sizes.js';

const AT_ONCE = 4;
const PRICE_LAMPORTS = 2_000_000;
const FINALITY_MS = 120_000;
/** Tables with permanent rows of a charged run, and their keys. */
const TABLES = { runs: 'id', charges: 'run_id', charge_signatures: 'run_id' } as const;

/** Charges runs, and measures their permanent rows in the database and their bytes in its log. */
export async function weighChargedRuns(market: GrownMarket, { charged }: Sizes, sheet: Sheet): Promise<void> {
  const { pool } = market.parts;
  const agentId = await market.publish('connected', 'quick-agent', {
    listing: { rental_model: 'per_query', price_lamports: PRICE_LAMPORTS, sample_output: ['A sample.'] },
  });
  const terms = { deposit_lamports: (charged + 1) * PRICE_LAMPORTS };
  const [renter] = await newRenters(market, 1, { [agentId]: terms });
  const run = async (task: string): Promise<string> => {
    const options = { token: renter?.token ?? '', body: { agent_id: agentId, task } };
    const answer = await call(market.server, 'POST', '/v1/execute', options);
    if (answer.status !== 200)
      throw new Error(`A run was answered ${answer.status}: ${JSON.stringify(answer.body)}`);
    return String(answer.body['run_id']);
  };
  // The first run is charged when its agent is reached, and all others are charged at their start.
  await run('first');
  const open = `select from charges where listing_id = $1 and state in ('reserved', 'signed', 'confirmed')`;
  const settled = () =>
    until(async () => (await pool.query(open, [agentId])).rowCount === 0, FINALITY_MS, 200);
  await settled();
  const before = await walOf(market);
  const ids: string[] = [];
  await Promise.all(
    Array.from({ length: AT_ONCE }, async (_, lane) => {
      for (let count = lane; count < charged; count += AT_ONCE) ids.push(await run(`run ${count}`));
    }),
  );
  await settled();
  const wal = ((await walOf(market)) - before) / charged;
  let inRows = 0;
  let inIndexes = 0;
  for (const [table, key] of Object.entries(TABLES)) {
    inRows += await rowBytes(pool, table, key, ids);
    inIndexes += await indexBytes(pool, table);
  }
  sheet.add({
    what: 'a charged run, when it is final',
    bytes_in_rows: inRows,
    bytes_in_indexes: inIndexes,
    wal_bytes: wal,
    samples: charged,
  });
}

/** The average bytes of a run in a table. */
async function rowBytes(pool: Pool, table: string, key: string, ids: readonly string[]): Promise<number> {
  const { rows } = await pool.query<{ bytes: number }>(
    `select coalesce(sum(pg_column_size(${table}.*)), 0)::float8 / $2 as bytes from ${table} where ${key} = any ($1)`,
    [ids, ids.length],
  );
  return rows[0]?.bytes ?? Number.NaN;
}

/** The average index bytes of a row, over the table and its partitions. */
async function indexBytes(pool: Pool, table: string): Promise<number> {
  const { rows } = await pool.query<{ bytes: number }>(
    `select coalesce(sum(pg_indexes_size(relid))::float8 / nullif(sum(greatest(reltuples, 0)), 0), 0) as bytes
      from (select $1::regclass as relid union select relid from pg_partition_tree($1)) relations
      join pg_class on pg_class.oid = relid where relkind = 'r'`,
    [table],
  );
  return rows[0]?.bytes ?? Number.NaN;
}
