import { CATEGORIES, type Category } from '@agent-rental/contract';
import type { Owner } from '../access/owner.js';
import { sql, type Selectable } from 'kysely';
import type { Db, OpenDatabase } from '../database/connection.js';
import { prepare } from '../database/prepared-statements.js';
import type { Database } from '../database/schema.js';
import { sharedRead } from '../database/batch-by-key.js';
import { lastAction } from '../moderation/index.js';
import { countWithPending, type ListingRow } from './listing-row.js';
import { createListingSearch, type FoundListings } from './search/search.js';
import { facetLexeme, type Search } from './search/conditions.js';
import { keyOf, pinnedVersion } from './versions/pins.js';

const withCreator = (db: Db) =>
  db
    .selectFrom('listings')
    .innerJoin('creators', 'creators.wallet', 'listings.creator')
    .selectAll('listings')
    .select(['creators.display_name', 'creators.listing_count'])
    // In place of the listing's own columns of these names.
    .select([
      sql.raw<number>(countWithPending('run_count')).as('run_count'),
      sql.raw<number>(countWithPending('completed_count')).as('completed_count'),
    ]);

/** Reads listings. */
export interface ListingRepository {
  /** A listing that is or was on sale; drafts are not found. */
  findPublished(id: string): Promise<ListingRow | undefined>;
  search(query: Search): Promise<FoundListings>;
  findPublishedId(address: string): Promise<string | undefined>;
  findVersion(id: string): Promise<Selectable<Database['agent_versions']> | undefined>;
  /** A version of a listing by its number, if it runs or has run on sale. */
  findNumbered(
    listing: { id: string; versionId: string },
    number: number,
  ): Promise<Selectable<Database['agent_versions']> | undefined>;
  /** A listing that is or was on sale, with its running version: all that a run needs to know of it. */
  findRun(id: string): Promise<RunListingRow | undefined>;
  /** The same, with the caller's rental of it by the index, and the version that the caller has pinned. */
  findRunFor(id: string, owner: Owner): Promise<RentedRunRow | undefined>;
  /** The listings on sale of a creator, the newest first. */
  findOfCreator(wallet: string, limit: number): Promise<ListingRow[]>;
  /** How many listings on sale have each lexeme of a category. */
  countCategories(): Promise<ReadonlyMap<Category, number>>;
  /** Why the operator suspended a listing; undefined where no reason is on record. */
  findSuspensionReason(id: string): Promise<string | undefined>;
  /** The input schemas of the published listings of these ids, in no order. */
  findCalled(ids: string[]): Promise<CalledRow[]>;
}

/** A listing with the facts for its caller. */
interface CalledRow {
  id: string;
  description: string;
  price_lamports: bigint | null;
  input_schema: unknown;
  failing_since: Date | null;
}

/** A published listing with its running version. */
export type RunListingRow = Pick<
  Selectable<Database['listings']>,
  | 'id'
  | 'title'
  | 'creator'
  | 'address'
  | 'rental_model'
  | 'price_lamports'
  | 'min_deposit_lamports'
  | 'operator_runs_per_minute'
  | 'runs_per_minute'
  | 'metadata_uri'
  | 'status'
  | 'version_id'
  | 'free_trial'
> &
  Pick<
    Selectable<Database['agent_versions']>,
    'number' | 'input_schema' | 'output_schema' | 'timeout_seconds'
  > & {
    /** A version that runs has one. */
    private_part: Buffer;
  };

/** A rental by the index; all null where there is none. */
export type RentedRunRow = RunListingRow & {
  rented_as: Database['credentials']['rental_model'] | null;
  valid: boolean | null;
  expires_at: Date | null;
  balance_lamports: bigint | null;
  max_price_lamports: bigint | null;
  pinned_version: number | null;
};

export function createListingRepository(database: Pick<OpenDatabase, 'db' | 'pool'>): ListingRepository {
  const { db } = database;
  const finder = createListingSearch(database);
  // Every run asks for one: building and compiling the query anew costs as much as sending it.
  const runListing = db
    .selectFrom('listings')
    .innerJoin('agent_versions', 'agent_versions.id', 'listings.version_id')
    .where('listings.id', '=', '')
    .where('listings.status', '!=', sql.lit('draft'))
    .select([
      'listings.id',
      'listings.title',
      'listings.creator',
      'listings.address',
      'listings.rental_model',
      'listings.price_lamports',
      'listings.min_deposit_lamports',
      'listings.operator_runs_per_minute',
      'listings.runs_per_minute',
      'listings.metadata_uri',
      'listings.status',
      'listings.version_id',
      'listings.free_trial',
      'agent_versions.number',
      'agent_versions.input_schema',
      'agent_versions.output_schema',
      'agent_versions.timeout_seconds',
      'agent_versions.private_part',
    ]);
  const findRun = runListing.compile();
  // Found by listing and buyer: it costs the same however many rentals either has.
  const findRunFor = runListing
    .leftJoin('credentials', (join) =>
      join.onRef('credentials.listing_address', '=', 'listings.address').on('credentials.buyer', '=', ''),
    )
    .leftJoin('balances', (join) =>
      join
        .onRef('balances.listing_address', '=', 'credentials.listing_address')
        .onRef('balances.buyer', '=', 'credentials.buyer'),
    )
    .select([
      'credentials.rental_model as rented_as',
      'credentials.valid',
      'credentials.expires_at',
      'balances.balance_lamports',
      'balances.max_price_lamports',
      pinnedVersion.as('pinned_version'),
    ])
    .compile();
  prepare(findRun.sql);
  prepare(findRunFor.sql);
  // A program's runs often come together.
  const readRunFor = sharedRead(async (key) => {
    const [wallet = '', apiKeyId = '', id = ''] = key.split(' ');
    // The pin is selected before the rental is joined.
    const parameters = [wallet, apiKeyId, wallet, id];
    return (await db.executeQuery<RentedRunRow>({ ...findRunFor, parameters })).rows[0];
  });
  return {
    findRunFor: (id, owner) => readRunFor(`${owner.wallet} ${keyOf(owner)} ${id}`),
    findRun: sharedRead(
      async (id) => (await db.executeQuery<RunListingRow>({ ...findRun, parameters: [id] })).rows[0],
    ),

    findPublished: (id) =>
      withCreator(db)
        .where('listings.id', '=', id)
        .where('listings.status', '!=', 'draft')
        .executeTakeFirst(),

    async findPublishedId(address) {
      const row = await db
        .selectFrom('listings')
        .select('id')
        .where('address', '=', address)
        .where('status', '!=', 'draft')
        .executeTakeFirst();
      return row?.id;
    },

    findVersion: (id) => db.selectFrom('agent_versions').selectAll().where('id', '=', id).executeTakeFirst(),

    findNumbered: ({ id, versionId }, number) =>
      db
        .selectFrom('agent_versions')
        .selectAll()
        .where('listing_id', '=', id)
        .where('number', '=', number)
        // A version that neither runs nor was ever replaced was never approved.
        .where(({ eb, or }) => or([eb('id', '=', versionId), eb('replaced_at', 'is not', null)]))
        .executeTakeFirst(),

    findCalled: (ids) =>
      db
        .selectFrom('listings')
        .innerJoin('agent_versions', 'agent_versions.id', 'listings.version_id')
        .where('listings.id', '=', sql<string>`any(${ids})`)
        .where('listings.status', '!=', 'draft')
        .select([
          'listings.id',
          'listings.description',
          'listings.price_lamports',
          'listings.failing_since',
          'agent_versions.input_schema',
        ])
        .execute(),

    async findSuspensionReason(id) {
      const last = await lastAction(db, id, ['take-down', 'restore']);
      return last?.action === 'take-down' ? (last.reason ?? undefined) : undefined;
    },

    findOfCreator: (wallet, limit) =>
      withCreator(db)
        .where('listings.creator', '=', wallet)
        .where('listings.status', '=', 'active')
        .where('listings.hidden_since', 'is', null)
        .orderBy('listings.published_at', 'desc')
        .orderBy('listings.id')
        .limit(limit)
        .execute(),

    async countCategories() {
      const lexemes = new Map(CATEGORIES.map((category) => [facetLexeme({ category }) ?? '', category]));
      const { rows } = await sql<{ term: string; listing_count: bigint }>`
        select term, listing_count from search_term_counts
        where kind = 'lexeme' and term = any(${[...lexemes.keys()]})`.execute(db);
      return new Map(
        rows.flatMap(({ term, listing_count }) => {
          const category = lexemes.get(term);
          return category === undefined ? [] : [[category, Number(listing_count)]];
        }),
      );
    },

    search: (search) => finder.find(search),
  };
}
