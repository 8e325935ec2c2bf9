import { rent } from '@agent-rental/sdk/solana';
import type { Pool } from 'pg';
import { until } from '@agent-rental/test/support/timing/until';
import { call } from '@agent-rental/test/support/http';
import { newParticipant } from '@agent-rental/test/support/participant';
import { publishAgent } from '../adapters/rented-marketplace.js';
import { round } from '../report.js';
import type { Sheet } from './comparison.js';
import type { GrownMarket } from './grown-market.js';
import type { Sizes } from './sizes.js';

const AT_ONCE = 4;
const PRICE_LAMPORTS = 2_000_000;
const FINALITY_MS = 120_000;
/** Tables that have rows of a charged run for ever. */
const TABLES = { runs: 'id', charges: 'run_id', charge_signatures: 'run_id' } as const;

/** Charges runs, and weighs what stays of them in the database and what was written into its log. */
export async function weighChargedRuns(
  { server, agents, parts: { pool } }: GrownMarket,
  { charged }: Sizes,
  { rows, progress }: Sheet,
): Promise<void> {
  const agentId = await publishAgent(await newParticipant(server), agents.agentUrl, 'per_query');
  const renter = await newParticipant(server);
  await rent(renter.client, renter.signer, agentId, { deposit_lamports: (charged + 1) * PRICE_LAMPORTS });
  const run = async (task: string): Promise<string> => {
    const body = { agent_id: agentId, task };
    const answer = await call(server, 'POST', '/v1/execute', { token: renter.token, body });
    if (answer.status !== 200)
      throw new Error(`A run was answered ${answer.status}: ${JSON.stringify(answer.body)}`);
    return String(answer.body['run_id']);
  };
  // The first is charged when its agent was reached, all others as they start.
  await run('first');
  const settled = () =>
    until(
      async () => {
        const open = `select from charges where listing_id = $1 and state in ('reserved', 'signed', 'confirmed')`;
        return (await pool.query(open, [agentId])).rowCount === 0;
      },
      FINALITY_MS,
      200,
    );
  await settled();
  const before = await walBytes(pool);
  const ids: string[] = [];
  await Promise.all(
    Array.from({ length: AT_ONCE }, async (_, lane) => {
      for (let count = lane; count < charged; count += AT_ONCE) ids.push(await run(`run ${count}`));
    }),
  );
  await settled();
  const wal = ((await walBytes(pool)) - before) / charged;
  let inRows = 0;
  let inIndexes = 0;
  for (const [table, key] of Object.entries(TABLES)) {
    inRows += await rowBytes(pool, table, key, ids);
    inIndexes += await indexBytes(pool, table);
  }
  rows.push({
    what: 'a charged run, once it is final',
    bytes_in_rows: round(inRows),
    bytes_in_indexes: round(inIndexes),
    wal_bytes: round(wal),
    samples: charged,
  });
  progress(`A charged run: ${round(inRows + inIndexes)} bytes, ${round(wal)} bytes of WAL`);
}

async function walBytes(pool: Pool): Promise<number> {
  const { rows } = await pool.query<{ bytes: number }>(
    `select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8 as bytes`,
  );
  return rows[0]?.bytes ?? Number.NaN;
}

/** Of a run, on average. */
async function rowBytes(pool: Pool, table: string, key: string, ids: readonly string[]): Promise<number> {
  const { rows } = await pool.query<{ bytes: number }>(
    `select coalesce(sum(pg_column_size(${table}.*)), 0)::float8 / $2 as bytes from ${table} where ${key} = any ($1)`,
    [ids, ids.length],
  );
  return rows[0]?.bytes ?? Number.NaN;
}

/** Of a row, on average over the table and its partitions. */
async function indexBytes(pool: Pool, table: string): Promise<number> {
  const { rows } = await pool.query<{ bytes: number }>(
    `select coalesce(sum(pg_indexes_size(relid))::float8 / nullif(sum(greatest(reltuples, 0)), 0), 0) as bytes
      from (select $1::regclass as relid union select relid from pg_partition_tree($1)) relations
      join pg_class on pg_class.oid = relid where relkind = 'r'`,
    [table],
  );
  return rows[0]?.bytes ?? Number.NaN;
}
