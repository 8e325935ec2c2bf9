import { sql, type Insertable, type Selectable } from 'kysely';
import type { Db } from '../platform/database/database.js';
import type { Database } from '../platform/database/schema.js';

type BalanceRow = Selectable<Database['balances']>;

/** A rental from the index, with what decides about it. */
export interface RentalRow {
  address: string;
  listing_id: string;
  listing_title: string;
  listing_status: 'draft' | 'active' | 'paused' | 'closed';
  price_lamports: bigint | null;
  rental_model: 'one_time' | 'subscription' | 'per_query';
  valid: boolean;
  purchased_at: Date;
  expires_at: Date | null;
  balance_lamports: bigint | null;
  max_price_lamports: bigint | null;
}

/** The index of chain state. Writes carry the slot they were read at and never replace a newer one. */
export interface CredentialRepository {
  listRentals(wallet: string): Promise<RentalRow[]>;
  findRental(wallet: string, listingId: string): Promise<RentalRow | undefined>;
  upsertCredential(row: Insertable<Database['credentials']>): Promise<void>;
  upsertBalance(row: BalanceRow): Promise<void>;
  updateListing(
    id: string,
    fields: {
      rental_model: 'one_time' | 'subscription' | 'per_query';
      status: 'active' | 'paused' | 'closed';
      price_lamports: bigint;
      min_deposit_lamports: bigint;
      metadata_uri: string;
      created_at: Date;
      slot: bigint;
    },
  ): Promise<void>;
  readCursor(programId: string): Promise<string | undefined>;
  writeCursor(programId: string, signature: string): Promise<void>;
}

export function createCredentialRepository(db: Db): CredentialRepository {
  const rentals = (wallet: string) =>
    db
      .selectFrom('credentials')
      .innerJoin('listings', 'listings.address', 'credentials.listing_address')
      .leftJoin('balances', (join) =>
        join
          .onRef('balances.buyer', '=', 'credentials.buyer')
          .onRef('balances.listing_address', '=', 'credentials.listing_address'),
      )
      .where('credentials.buyer', '=', wallet)
      .select([
        'credentials.address',
        'listings.id as listing_id',
        'listings.title as listing_title',
        'listings.status as listing_status',
        'listings.price_lamports',
        'credentials.rental_model',
        'credentials.valid',
        'credentials.purchased_at',
        'credentials.expires_at',
        'balances.balance_lamports',
        'balances.max_price_lamports',
      ])
      .orderBy('credentials.purchased_at', 'desc')
      .orderBy('credentials.address');

  return {
    listRentals: (wallet) => rentals(wallet).execute(),
    findRental: (wallet, listingId) =>
      rentals(wallet).where('listings.id', '=', listingId).executeTakeFirst(),
    async upsertCredential(row) {
      await db
        .insertInto('credentials')
        .values(row)
        .onConflict((conflict) =>
          conflict.column('address').doUpdateSet(row).where('credentials.slot', '<=', row.slot),
        )
        .execute();
    },
    async upsertBalance(row) {
      await db
        .insertInto('balances')
        .values(row)
        .onConflict((conflict) =>
          conflict.column('address').doUpdateSet(row).where('balances.slot', '<=', row.slot),
        )
        .execute();
    },
    async updateListing(id, { created_at, ...fields }) {
      await db
        .updateTable('listings')
        .set({ ...fields, published_at: sql`coalesce(published_at, ${created_at})`, updated_at: new Date() })
        .where('id', '=', id)
        .where('slot', '<=', fields.slot)
        .execute();
    },
    async readCursor(programId) {
      const row = await db
        .selectFrom('index_cursor')
        .select('signature')
        .where('program_id', '=', programId)
        .executeTakeFirst();
      return row?.signature;
    },
    async writeCursor(programId, signature) {
      await db
        .insertInto('index_cursor')
        .values({ program_id: programId, signature })
        .onConflict((conflict) => conflict.column('program_id').doUpdateSet({ signature }))
        .execute();
    },
  };
}
