import type { Pool } from 'pg';

/** The size of a wallet's history. */
export interface WalletSize {
  /** The oldest rental has the same listing for any number. */
  readonly rentals: number;
  /** One of forty runs is of the oldest rental's listing. */
  readonly runs: number;
  /** Published listings. */
  readonly listings: number;
}

const ADDRESS = (kind: string) =>
  `'A' || left(translate(md5('${kind}' || $1::text || id) || md5(id || $1::text::text || '${kind}'), '0', 'z'), 42)`;

/** Adds rentals, runs and listings to a wallet in a seeded database. @returns the listing of its oldest rental. */
export async function growWallet(
  pool: Pool,
  wallet: string,
  { rentals, runs, listings }: WalletSize,
): Promise<string> {
  const chosen = `select id, address, rental_model, version_id, row_number() over (order by id) as n
    from listings where id like 'seeded-%' and status = 'active' order by id limit $2`;
  await pool.query(
    `insert into credentials (address, buyer, listing_address, rental_model, valid, purchased_at, expires_at, slot)
      select ${ADDRESS('credential')}, $1::text, address, rental_model, true, now() - interval '30 days' + n * interval '1 second',
        case when rental_model = 'subscription' then now() + interval '30 days' end, 9000000000000000
      from (${chosen}) chosen`,
    [wallet, rentals],
  );
  await pool.query(
    `insert into balances (address, buyer, listing_address, balance_lamports, max_price_lamports, highest_sequence,
        window_bits, slot)
      select ${ADDRESS('balance')}, $1::text, address, 1000000000, 1000000000, 0, decode(repeat('00', 32), 'hex'), 9000000000000000
      from (${chosen}) chosen where rental_model = 'per_query'`,
    [wallet, rentals],
  );
  await pool.query(
    `insert into runs (id, listing_id, version_id, wallet, status, request_digest, cost_lamports, duration_ms, created_at,
        finished_at, waiters, salt, input_digest, output_digest)
      select md5($1::text || i)::uuid, chosen.id, chosen.version_id, $1::text, 'completed', decode(md5('request' || i), 'hex'), 0, 900,
        at, at, 0, '\\x00', '\\x00', '\\x00'
      from generate_series(0, $3::integer - 1) i
      join (${chosen}) chosen on chosen.n = 1 + i % $2,
      lateral (select now() - interval '1 minute' * ($3 - i) as at) times`,
    [wallet, Math.min(rentals, 40), runs],
  );
  await pool.query('insert into creators (wallet) values ($1) on conflict do nothing', [wallet]);
  await pool.query(
    `update listings set creator = $1::text where id in (
      select id from listings where id like 'seeded-%' and status = 'active' order by md5(id || $1::text) limit $2)`,
    [wallet, listings],
  );
  const { rows } = await pool.query<{ id: string }>(chosen.replace('$2', '1'));
  return rows[0]?.id ?? '';
}
