create extension if not exists pg_trgm;

create table listing_search (
  seq integer generated always as identity primary key,
  listing_id text not null unique references listings (id) on delete cascade,
  published_at timestamptz not null,
  price_lamports bigint not null,
  rating float8 not null,
  rating_order float8 not null,
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
) with (toast_tuple_target=128);
create index listing_search_document on listing_search using gin (document) with (fastupdate=off);
create index listing_search_newest on listing_search (published_at desc, seq) include (price_lamports, rating, finance, legal, coding, research, sales, content, one_time, subscription, per_query);
create index listing_search_price_asc on listing_search (price_lamports, published_at desc, seq) include (rating, finance, legal, coding, research, sales, content, one_time, subscription, per_query);
create index listing_search_price_desc on listing_search (price_lamports desc, published_at desc, seq) include (rating, finance, legal, coding, research, sales, content, one_time, subscription, per_query);
create index listing_search_least_rating on listing_search (rating);
create index listing_search_rating on listing_search (rating_order desc, published_at desc, seq) include (price_lamports, rating, finance, legal, coding, research, sales, content, one_time, subscription, per_query);

-- How many active listings have a term, but for `search_term_deltas`; the view `search_term_counts` adds both.
create table search_terms (
  kind text not null check (kind in ('lexeme', 'word')),
  term text not null,
  listing_count bigint not null,
  deletions text[] generated always as (case when kind = 'word' then word_deletions(term) end) stored,
  primary key (kind, term)
) with (fillfactor=80);
create index search_terms_deletions on search_terms using gin (deletions) with (fastupdate=off) where kind = 'word';
create index search_terms_begun on search_terms (term text_pattern_ops) where kind = 'word';
create index search_terms_words on search_terms using gin (term gin_trgm_ops) where kind = 'word';

-- By how much the counts of terms changed, as the trigger appends it and `fold_search_terms` adds it up.
create table search_term_deltas (
  seq bigint generated always as identity primary key,
  kind text not null,
  term text not null,
  difference integer not null
) with (autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=20000);
create index search_term_deltas_term on search_term_deltas (kind, term, seq) include (difference);

create view search_term_counts as
  select kind, term, deletions,
    listing_count + coalesce((
      select sum(difference) from search_term_deltas as delta
      where delta.kind = search_terms.kind and delta.term = search_terms.term
        and delta.seq > (select folded_seq from delta_folds where name = 'search terms')
    ), 0) as listing_count
  from search_terms;

create type listing_weight as (
  weight integer, creator text, title text, description text, category text[], rental_model text
);

create view searchable_listings as
  select id as listing_id,
    -- A listing that fails comes after its equals.
    case when failing_since is null then published_at else published_at - interval '1000 years' end as published_at,
    price_lamports,
    rating_sum::float8 / greatest(review_count, 1)::float8 as rating,
    -- The order by rating, of wallets that rented from others, too. Five further ratings of 3 keep one review from outweighing many.
    (ranked_rating_sum + 15)::float8 / (ranked_review_count + 5)::float8 as rating_order,
    'finance' = any (category) as finance, 'legal' = any (category) as legal, 'coding' = any (category) as coding,
    'research' = any (category) as research, 'sales' = any (category) as sales, 'content' = any (category) as content,
    rental_model = 'one_time' as one_time, rental_model = 'subscription' as subscription,
    rental_model = 'per_query' as per_query,
    listing_document(title, description, category, rental_model) as document
  from listings
  where status = 'active' and hidden_since is null;
