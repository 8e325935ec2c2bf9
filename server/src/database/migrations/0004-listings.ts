import { sql, type Kysely } from 'kysely';

/** What search reads, kept by a trigger in the transaction that changes a listing; and reviews. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  `create extension if not exists pg_trgm`,
  `drop index listings_document, listings_newest, listings_price`,
  `alter table listings drop column document`,
  `create view searchable_listings as
    select id as listing_id, published_at, price_lamports,
      rating_sum::float8 / greatest(review_count, 1) as rating,
      'finance' = any (category) as finance, 'legal' = any (category) as legal,
      'coding' = any (category) as coding, 'research' = any (category) as research,
      'sales' = any (category) as sales, 'content' = any (category) as content,
      rental_model = 'one_time' as one_time, rental_model = 'subscription' as subscription,
      rental_model = 'per_query' as per_query,
      listing_document(title, description, category, rental_model) as document
    from listings where status = 'active'`,
  // Apart from listings, whose rows are wide and change with every run. Counting what an index has found reads every
  // page with a match, so the rows are narrow: documents are out of line. PostgreSQL moves them only out of rows
  // that begin longer than 2 kB, hence the padding, of which compression leaves a few bytes.
  `create table listing_search (
    seq integer generated always as identity primary key,
    listing_id text not null unique references listings (id) on delete cascade,
    published_at timestamptz not null,
    price_lamports bigint not null,
    rating double precision not null,
    finance boolean not null,
    legal boolean not null,
    coding boolean not null,
    research boolean not null,
    sales boolean not null,
    content boolean not null,
    one_time boolean not null,
    subscription boolean not null,
    per_query boolean not null,
    document tsvector not null,
    padding text not null default repeat(' ', 2048)
  ) with (toast_tuple_target = 128)`,
  `alter table listing_search alter column document set storage external`,
  `create index listing_search_document on listing_search using gin (document) with (fastupdate = off)`,
  ...[
    ['newest', 'published_at desc, seq', 'price_lamports, rating'],
    ['rating', 'rating desc, published_at desc, seq', 'price_lamports'],
    ['price_asc', 'price_lamports, published_at desc, seq', 'rating'],
    ['price_desc', 'price_lamports desc, published_at desc, seq', 'rating'],
  ].map(
    ([name, key, rest]) => `create index listing_search_${name} on listing_search (${key}) include (${rest},
      finance, legal, coding, research, sales, content, one_time, subscription, per_query)`,
  ),

  // How many active listings have a term: a lexeme of the document, or a word as it is written.
  `create table search_terms (
    kind text not null check (kind in ('lexeme', 'word')),
    term text not null,
    listing_count bigint not null,
    primary key (kind, term)
  )`,
  `create index search_terms_words on search_terms using gin (term gin_trgm_ops) where kind = 'word'`,
  `alter table creators add column listing_count integer not null default 0`,
  `create trigger keep_listing_search after insert or delete or update of
    title, description, category, rental_model, price_lamports, status, rating_sum, review_count, published_at
    on listings for each row execute function keep_listing_search()`,
  `select rebuild_listing_search()`,

  `create table reviews (
    listing_id text not null references listings (id),
    reviewer text not null,
    rating smallint not null check (rating between 1 and 5),
    comment text,
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now(),
    primary key (listing_id, reviewer)
  )`,
  `create index reviews_newest on reviews (listing_id, updated_at desc, reviewer)`,
  `create index runs_finished on runs (wallet, listing_id) where status in ('completed', 'failed')`,
];
