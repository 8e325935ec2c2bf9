import { sql, type Kysely } from 'kysely';

/**
 * Counts that many transactions change are appended as differences, and added up later: of the listings that have a term, and of
 * the runs of a listing. Search is kept by triggers of whole statements.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const CHANGED = [
  ['insert', 'new table as listings_after'],
  ['update', 'old table as listings_before new table as listings_after'],
  ['delete', 'old table as listings_before'],
] as const;

const STATEMENTS = [
  `create table search_term_deltas (
    seq bigint generated always as identity primary key,
    kind text not null,
    term text not null,
    difference integer not null
  ) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000)`,
  `create index search_term_deltas_term on search_term_deltas (kind, term, seq) include (difference)`,
  `create table listing_run_deltas (
    seq bigint generated always as identity primary key,
    listing_id text not null,
    run_count integer not null,
    completed_count integer not null
  ) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000)`,
  `create index listing_run_deltas_listing on listing_run_deltas (listing_id, seq)
    include (run_count, completed_count)`,

  // Most of the time nearly all deltas are of one listing, or none is left: by statistics of that, reads would go through
  // the whole table once there are many.
  ...['search_term_deltas alter column kind', 'search_term_deltas alter column term'].map(
    (column) => `alter table ${column} set statistics 0`,
  ),
  `alter table listing_run_deltas alter column listing_id set statistics 0`,

  // Up to folded_seq no delta is left, and none will come: reads begin after it, and skip the deleted ones. Up to next_seq
  // none will come once every transaction before next_xid has ended.
  `create table delta_folds (
    name text primary key check (name in ('search terms', 'run counts')),
    folded_seq bigint not null default 0,
    next_seq bigint not null default 0,
    next_xid xid8
  ) with (fillfactor = 10)`,
  `insert into delta_folds (name) values ('search terms'), ('run counts')`,
  `create view search_term_counts as
    select kind, term, deletions, listing_count + coalesce((
      select sum(difference) from search_term_deltas as delta
      where delta.kind = search_terms.kind and delta.term = search_terms.term
        and seq > (select folded_seq from delta_folds where name = 'search terms')
    ), 0)::bigint as listing_count
    from search_terms`,

  // What a listing adds to the counts, or takes from them.
  `create type listing_weight as (
    weight integer, creator text, title text, description text, category text[], rental_model text
  )`,
  `drop trigger keep_listing_search on listings`,
  ...CHANGED.map(
    ([event, tables]) => `create trigger keep_search_after_${event} after ${event} on listings
      referencing ${tables} for each statement execute function keep_search_of_listings()`,
  ),

  // Slots in the order in which they were taken: one who knows which are gone for good begins after them.
  `alter table seats add column place bigint not null default nextval('seat_turns')`,
  `create index seats_place on seats (listing_id, place)`,
  `create index seat_line_place on seat_line (listing_id, place)`,
  `drop index seats_listing`,

  // Room beside each row, so that a change of a count stays on its page and touches no index.
  `alter table search_terms set (fillfactor = 80)`,
  `alter table creators set (fillfactor = 70)`,
];
