import { walletAddress } from '@agent-rental/contract';
import { sql } from 'kysely';
import type { Db } from '../../database/connection.js';
import { isBanned } from '../../moderation/index.js';
import { OperatorError } from '../operator-error.js';
import { decisionsAbout } from './decisions.js';

const MOST_ROWS = 50;
const MOST_RUNS = 20;

/** The facts of a wallet. Keys are named and never shown. @throws OperatorError for a text that is no address */
export async function readWallet(db: Db, address: string) {
  if (!walletAddress.safeParse(address).success) throw new OperatorError('It is no address of a wallet.');
  const [rentals, keys, listings, runs, credits, spent] = await Promise.all([
    readRentals(db, address),
    readKeys(db, address),
    db
      .selectFrom('listings')
      .select(['id', 'status', 'title'])
      .where('creator', '=', address)
      .orderBy('created_at', 'desc')
      .limit(MOST_ROWS)
      .execute(),
    readLastRuns(db, address),
    db
      .selectFrom('credits')
      .select(['run_id', 'listing_id', 'created_at'])
      .where('wallet', '=', address)
      .where('used_by_run_id', 'is', null)
      .limit(MOST_ROWS)
      .execute(),
    db
      .selectFrom('renter_stats')
      .select((eb) => eb.fn.sum<string | null>('spent_lamports').as('lamports'))
      .where('owner', '=', address)
      .where('started_at', '>', sql<Date>`now() - interval '30 days'`)
      .executeTakeFirstOrThrow(),
  ]);
  return {
    wallet: address,
    banned: await isBanned(db, address),
    decisions: await decisionsAbout(db, address),
    spent_lamports_in_30_days: Number(spent.lamports ?? 0),
    rentals,
    keys,
    unused_credits: credits.map((row) => ({
      listing_id: row.listing_id,
      for_run_id: row.run_id,
      given_at: row.created_at.toISOString(),
    })),
    last_runs: runs,
    own_listings: listings.map(({ id, status, title }) => ({ listing_id: id, status, title })),
  };
}

async function readRentals(db: Db, buyer: string) {
  const rows = await db
    .selectFrom('credentials')
    .innerJoin('listings', 'listings.address', 'credentials.listing_address')
    .leftJoin('balances', (join) =>
      join
        .onRef('balances.listing_address', '=', 'credentials.listing_address')
        .onRef('balances.buyer', '=', 'credentials.buyer'),
    )
    .select(['listings.id', 'listings.status', 'credentials.rental_model', 'credentials.valid'])
    .select(['credentials.purchased_at', 'credentials.expires_at', 'balances.balance_lamports'])
    .where('credentials.buyer', '=', buyer)
    // As the index of rentals has it.
    .where('credentials.valid', '=', true)
    .orderBy('credentials.purchased_at', 'desc')
    .limit(MOST_ROWS)
    .execute();
  return rows.map((row) => ({
    listing_id: row.id,
    listing_status: row.status,
    rental_model: row.rental_model,
    valid: row.valid,
    purchased_at: row.purchased_at.toISOString(),
    expires_at: row.expires_at?.toISOString() ?? null,
    balance_lamports: row.balance_lamports === null ? null : Number(row.balance_lamports),
  }));
}

async function readKeys(db: Db, wallet: string) {
  const rows = await db
    .selectFrom('api_keys')
    .select(['id', 'label', 'scopes', 'created_at', 'revoked_at', 'expires_at'])
    .select((eb) =>
      eb
        .selectFrom('api_key_spends')
        .select(sql<bigint>`coalesce(sum(lamports), 0)::bigint`.as('lamports'))
        .whereRef('api_key_spends.api_key_id', '=', 'api_keys.id')
        .where('api_key_spends.created_at', '>', sql<Date>`now() - interval '24 hours'`)
        .as('spent'),
    )
    .where('wallet', '=', wallet)
    .orderBy('created_at', 'desc')
    .limit(MOST_ROWS)
    .execute();
  return rows.map((row) => ({
    label: row.label,
    key_id: row.id,
    scopes: row.scopes,
    made_at: row.created_at.toISOString(),
    revoked_at: row.revoked_at?.toISOString() ?? null,
    expires_at: row.expires_at?.toISOString() ?? null,
    /** Of keys with a daily limit. */
    spent_lamports_in_24_hours: Number(row.spent ?? 0),
  }));
}

async function readLastRuns(db: Db, wallet: string) {
  const rows = await db
    .selectFrom('runs')
    .select(['id', 'listing_id', 'status', 'cost_lamports', 'created_at'])
    .where('wallet', '=', wallet)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(MOST_RUNS)
    .execute();
  return rows.map((row) => ({
    run_id: row.id,
    listing_id: row.listing_id,
    status: row.status,
    cost_lamports: Number(row.cost_lamports),
    started_at: row.created_at.toISOString(),
  }));
}
