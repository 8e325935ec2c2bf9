import { randomUUID } from 'node:crypto';
import { findListingAddress, findPerQueryBalanceAddress } from '@agent-rental/program-client';
import { Keypair, PublicKey } from '@solana/web3.js';
import type { Insertable } from 'kysely';
import type { ChargeState } from '../database/charge-states.js';
import type { Db } from '../database/connection.js';
import type { Database } from '../database/schema.js';

/** A wallet address that no other test uses. */
export function newWallet(): string {
  return Keypair.generate().publicKey.toBase58();
}

let listings = 0;

/** A listing id in the right form, different each time. */
export function newTestListingId(): string {
  listings += 1;
  const digits = [listings >> 10, (listings >> 5) & 31, listings & 31];
  return `agent-aaa${digits.map((digit) => 'abcdefghijklmnopqrstuvwxyz234567'[digit]).join('')}`;
}

/** Stores a listing, active and per-task unless told otherwise, with its creator and its version. */
export async function insertListing(
  db: Db,
  fields: Partial<Insertable<Database['listings']>> = {},
): Promise<Insertable<Database['listings']>> {
  const id = fields.id ?? newTestListingId();
  const listing: Insertable<Database['listings']> = {
    id,
    creator: newWallet(),
    title: 'Test agent',
    description: 'A test agent.',
    category: ['finance'],
    rental_model: 'per_query',
    price_lamports: 1_000_000n,
    min_deposit_lamports: 1_000_000n,
    runs_per_minute: null,
    status: 'active',
    address: findListingAddress(id).address.toBase58(),
    metadata_uri: 'ipfs://test',
    sample_output: JSON.stringify(['An answer.']),
    version_id: randomUUID(),
    review_state: 'approved',
    published_at: new Date('2026-01-01T00:00:00Z'),
    ...fields,
  };
  await db
    .insertInto('creators')
    .values({ wallet: listing.creator, display_name: null })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  await db.insertInto('listings').values(listing).execute();
  await db
    .insertInto('agent_versions')
    .values({
      id: listing.version_id,
      listing_id: id,
      input_schema: JSON.stringify({}),
      output_schema: JSON.stringify({}),
      timeout_seconds: 60,
      metadata_uri: null,
      private_part: Buffer.alloc(0),
    })
    .execute();
  return listing;
}

/** Stores a run of that wallet that is under way; gives its id. */
export async function insertRun(
  db: Db,
  listing: { id: string; version_id: string },
  wallet: string,
): Promise<string> {
  const id = randomUUID();
  await db
    .insertInto('runs')
    .values({
      id,
      listing_id: listing.id,
      version_id: listing.version_id,
      wallet,
      status: 'running',
      idempotency_key: null,
      request_digest: Buffer.alloc(32),
      duration_ms: null,
      output: null,
      finished_at: null,
    })
    .execute();
  return id;
}

/** Stores a wallet's balance for a listing, which pays for much and was not charged yet; gives its address. */
export async function insertBalance(
  db: Db,
  wallet: string,
  listingAddress: string,
  fields: Partial<Insertable<Database['balances']>> = {},
): Promise<string> {
  const address = balanceAddressOf(wallet, listingAddress);
  const row = {
    address,
    buyer: wallet,
    listing_address: listingAddress,
    balance_lamports: 10n ** 9n,
    max_price_lamports: 10n ** 9n,
    highest_sequence: 0n,
    window_bits: Buffer.alloc(32),
    slot: 1n,
    ...fields,
  };
  await db.insertInto('balances').values(row).execute();
  return address;
}

/** Stores a run of that wallet with a charge in that state; gives the run's id. */
export async function insertCharge(
  db: Db,
  listing: { id: string; version_id: string },
  state: ChargeState,
  { wallet = newWallet(), priceLamports = 1n } = {},
): Promise<string> {
  const runId = await insertRun(db, listing, wallet);
  const row = {
    run_id: runId,
    wallet,
    listing_id: listing.id,
    balance_address: newWallet(),
    price_lamports: priceLamports,
    sequence: 1n,
    state,
  };
  await db.insertInto('charges').values(row).execute();
  return runId;
}

/** Address of a renter's balance account for a listing. */
export function balanceAddressOf(wallet: string, listingAddress: string): string {
  return findPerQueryBalanceAddress(new PublicKey(wallet), new PublicKey(listingAddress)).address.toBase58();
}
