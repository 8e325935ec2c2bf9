import { sql, type Kysely } from 'kysely';

/** What search reads, kept by a trigger in the transaction that changes a listing; and reviews. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  `create extension if not exists pg_trgm`,
  `drop index listings_document, listings_newest, listings_price`,
  `alter table listings drop column document`,

  // Title and facets are lexemes too. The space keeps them apart from words, which have none.
  `create function listing_document(title text, description text, category text[], rental_model text)
  returns tsvector language sql immutable strict parallel safe as $$
    select setweight(to_tsvector('english', title), 'A')
      || setweight(to_tsvector('english', description), 'B')
      || array_to_tsvector(
        array(select 'title ' || lexeme from unnest(tsvector_to_array(to_tsvector('english', title))) lexeme)
        || array(select 'category ' || name from unnest(category) name)
        || array(select 'category ' || name || ' model ' || rental_model from unnest(category) name)
        || ('model ' || rental_model))
  $$`,
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
  // The lexeme * stands for every listing.
  `create function listing_terms(title text, description text, category text[], rental_model text)
  returns table (kind text, term text) language sql immutable strict parallel safe as $$
    select 'lexeme', lexeme
      from unnest(tsvector_to_array(listing_document(title, description, category, rental_model)) || '*'::text) lexeme
    union all
    select 'word', word from unnest(tsvector_to_array(to_tsvector('simple', title || ' ' || description))) word
      where word ~ '^[[:alpha:]]{3,30}$'
  $$`,
  `alter table creators add column listing_count integer not null default 0`,

  `create function keep_listing_search() returns trigger language plpgsql as $$
  declare
    was_active constant boolean := tg_op <> 'INSERT' and old.status = 'active';
    is_active constant boolean := tg_op <> 'DELETE' and new.status = 'active';
  begin
    if was_active and not is_active then
      delete from listing_search where listing_id = old.id;
    elsif is_active then
      insert into listing_search (listing_id, published_at, price_lamports, rating, finance, legal, coding, research,
        sales, content, one_time, subscription, per_query, document)
      select * from searchable_listings where listing_id = new.id
      on conflict (listing_id) do update set published_at = excluded.published_at,
        price_lamports = excluded.price_lamports, rating = excluded.rating, finance = excluded.finance,
        legal = excluded.legal, coding = excluded.coding, research = excluded.research, sales = excluded.sales,
        content = excluded.content, one_time = excluded.one_time, subscription = excluded.subscription,
        per_query = excluded.per_query, document = excluded.document;
    end if;

    if was_active <> is_active then
      update creators set listing_count = listing_count + is_active::integer - was_active::integer
        where wallet = (case when is_active then new.creator else old.creator end);
    end if;

    -- In order of the terms, or two listings that share some could wait for each other.
    insert into search_terms as counted (kind, term, listing_count)
    select kind, term, sum(difference) from (
      select kind, term, 1 as difference
        from listing_terms(new.title, new.description, new.category, new.rental_model) where is_active
      union all
      select kind, term, -1
        from listing_terms(old.title, old.description, old.category, old.rental_model) where was_active
    ) differences
    group by kind, term having sum(difference) <> 0 order by kind, term
    on conflict (kind, term) do update set listing_count = counted.listing_count + excluded.listing_count;
    return null;
  end
  $$`,
  `create trigger keep_listing_search after insert or delete or update of
    title, description, category, rental_model, price_lamports, status, rating_sum, review_count, published_at
    on listings for each row execute function keep_listing_search()`,

  // The same from nothing: for the listings that are there already.
  `create function rebuild_listing_search() returns void language plpgsql as $$
  begin
    lock table listings in share mode;
    truncate listing_search, search_terms;
    insert into listing_search (listing_id, published_at, price_lamports, rating, finance, legal, coding, research,
      sales, content, one_time, subscription, per_query, document)
    select * from searchable_listings order by published_at;
    insert into search_terms (kind, term, listing_count)
    select 'lexeme', word, ndoc from ts_stat('select document from listing_search')
    union all
    select 'lexeme', '*', count(*) from listing_search
    union all
    select 'word', word, ndoc
      from ts_stat($words$
        select to_tsvector('simple', title || ' ' || description) from listings where status = 'active'$words$)
      where word ~ '^[[:alpha:]]{3,30}$';
    update creators set listing_count = coalesce(active.count, 0)
      from creators every
      left join (select creator, count(*) from listings where status = 'active' group by creator) active
        on active.creator = every.wallet
      where creators.wallet = every.wallet;
  end
  $$`,
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
