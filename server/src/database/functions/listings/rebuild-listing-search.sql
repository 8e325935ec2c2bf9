-- Fills `listing_search`, `search_terms` and the creators' counts from nothing, for the listings that are there
-- already.
create or replace function rebuild_listing_search() returns void language plpgsql as $$
begin
  lock table listings in share mode;
  truncate listing_search, search_terms;
  -- The table of differences came with a later migration than the first call.
  if to_regclass('search_term_deltas') is not null then
    truncate search_term_deltas;
  end if;
  insert into listing_search (listing_id, published_at, price_lamports, rating, rating_order, finance, legal, coding,
    research, sales, content, one_time, subscription, per_query, document)
  select * from searchable_listings order by published_at;
  insert into search_terms (kind, term, listing_count)
  select 'lexeme', word, ndoc from ts_stat('select document from listing_search')
  union all
  select 'lexeme', '*', count(*) from listing_search
  union all
  select 'word', word, ndoc
    from ts_stat($words$
      select to_tsvector('simple', title || ' ' || description) from listings
      where id in (select listing_id from listing_search)$words$)
    where word ~ '^[[:alpha:]]{3,30}$';
  update creators set listing_count = coalesce(active.count, 0)
    from creators every
    left join (select creator, count(*) from listings where status = 'active' group by creator) active
      on active.creator = every.wallet
    where creators.wallet = every.wallet;
end
$$
