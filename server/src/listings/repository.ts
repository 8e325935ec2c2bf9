import { sql, type Selectable } from 'kysely';
import type { Db, OpenDatabase } from '../database/connection.js';
import { prepare } from '../database/prepared-statements.js';
import type { Database } from '../database/schema.js';
import { sharedRead } from '../database/batch-by-key.js';
import { countWithPending, type ListingRow } from './listing-row.js';
import { createListingSearch, type FoundListings } from './search/search.js';
import type { Search } from './search/conditions.js';

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
  /** A listing that is or was on sale, with its running version: all that a run needs to know of it. */
  findRun(id: string): Promise<RunListingRow | undefined>;
  /** What the published listings of these ids are called with, in no order. */
  findCalled(ids: string[]): Promise<CalledRow[]>;
}

/** A listing with what a caller of it needs to know. */
interface CalledRow {
  id: string;
  description: string;
  price_lamports: bigint | null;
  input_schema: unknown;
}

/** A published listing with its running version. */
type RunListingRow = Pick<
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
> &
  Pick<
    Selectable<Database['agent_versions']>,
    'input_schema' | 'output_schema' | 'timeout_seconds' | 'private_part'
  >;

export function createListingRepository(database: Pick<OpenDatabase, 'db' | 'pool'>): ListingRepository {
  const { db } = database;
  const finder = createListingSearch(database);
  // Every run asks for one: building and compiling the query anew costs as much as sending it.
  const findRun = db
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
      'agent_versions.input_schema',
      'agent_versions.output_schema',
      'agent_versions.timeout_seconds',
      'agent_versions.private_part',
    ])
    .compile();
  prepare(findRun.sql);
  return {
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
          'agent_versions.input_schema',
        ])
        .execute(),

    search: (search) => finder.find(search),
  };
}
