import { insertListing, type ServerParts } from '@agent-rental/server/testing';
import { foldedRuns } from './folded-runs.js';

const LISTINGS = 20;

/** Ids of the listings of a history. */
export interface ChartHistory {
  readonly listingIds: readonly string[];
}

/**
 * Adds runs of one renter, of several listings of one creator, that ended within thirty days. The server's own fold counts
 * them, as it counts all ended runs.
 */
export async function seedRuns(
  parts: ServerParts,
  { creator, renter, runs }: { creator: string; renter: string; runs: number },
  progress: (line: string) => void,
): Promise<ChartHistory> {
  const listings = [];
  for (let place = 0; place < LISTINGS; place += 1) listings.push(await insertListing(parts.db, { creator }));
  const listingIds = listings.map(({ id }) => id);
  const client = await parts.pool.connect();
  try {
    await client.query('set synchronous_commit = off');
    // One in twenty failed, and one in a hundred was not served.
    await client.query(
      `create temporary table ended as
        select i, ($1::text[])[1 + i % $3] as listing_id, ($2::uuid[])[1 + i % $3] as version_id,
          now() - interval '30 days' * (i::float8 / $4) as at, 100 + i % 900 as duration_ms,
          case when i % 100 = 99 then 'undelivered' when i % 20 = 7 then 'failed' else 'completed' end as status
        from generate_series(0, $4::integer - 1) as i`,
      [listingIds, listings.map(({ version_id: id }) => id), LISTINGS, runs],
    );
    await client.query(
      `insert into runs (id, listing_id, version_id, wallet, status, request_digest, cost_lamports, duration_ms, created_at,
          finished_at, waiters)
        select md5('chart' || i)::uuid, listing_id, version_id, $1, status, '\\x00', 1000 + i % 7, duration_ms, at, at, 0 from ended`,
      [renter],
    );
    progress(`${runs} runs`);
    await client.query(
      `insert into listing_run_deltas (listing_id, run_count, completed_count, measure, detail, duration_ms, noted_at, wallet,
          cost_lamports)
        select listing_id, (status <> 'undelivered')::integer, (status = 'completed')::integer, status,
          case when status = 'completed' then '' else 'unknown' end,
          case when status <> 'undelivered' then duration_ms end, at, $1, case when status <> 'undelivered' then 1000 + i % 7 end
        from ended`,
      [renter],
    );
    await client.query('reset synchronous_commit');
    await client.query('vacuum (analyze) runs, listing_run_deltas');
  } finally {
    client.release();
  }
  await foldedRuns(parts.pool, progress);
  return { listingIds };
}
