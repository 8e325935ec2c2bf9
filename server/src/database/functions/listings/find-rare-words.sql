-- The number of active listings with the rarest word. If that is at most few: the number of matches too, and a page of
-- them. It gives one row for each listing of the page, or one row without a listing. It is a function so that each statement is
-- planned once for a connection and started only if needed. The start of one statement of them all takes longer than most
-- searches. If hardly any listing has the rarest word, those are read: the long lists of the other words take longer.
create or replace function find_rare_words(
  q text, facet text, few integer, sort text, page_limit integer, page_offset integer,
  min_price bigint, max_price bigint, min_rating float8
) returns table (
  lexemes text[], rarest integer, rarest_title integer, on_sale integer, total bigint, did_you_mean text,
  longer text, longer_listings bigint,
  listing_id text, "position" bigint
) language plpgsql stable rows 20 set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
declare
  -- Listings that are read rather than looked up by a second word.
  most_read constant integer := 200;
  rarest_word text;
  is_one_word boolean;
  words tsquery;
  titles tsquery;
  words_to_read tsquery;
  titles_to_read tsquery;
  titled integer[] := '{}';
  counted bigint;
begin
  if sort not in ('relevance', 'newest', 'rating', 'price_asc', 'price_desc') then
    raise exception 'There is no order "%" of listings.', sort;
  end if;
  lexemes := tsvector_to_array(to_tsvector('english', q));
  select coalesce(min(listings), 0), coalesce(min(titles), 0), (array_agg(lexeme order by listings))[1], count(*) = 1
    into rarest, rarest_title, rarest_word, is_one_word
    from (
      select lexeme,
        coalesce((select listing_count from search_term_counts where kind = 'lexeme' and term = lexeme), 0) as listings,
        coalesce((select listing_count from search_term_counts where kind = 'lexeme' and term = 'title ' || lexeme), 0) as titles
      from unnest(lexemes) lexeme
    ) counts;
  total := 0;
  if rarest = 0 then
    select others.did_you_mean, others.longer, others.longer_listings into did_you_mean, longer, longer_listings
      from other_words(q, false) others;
    return next;
    return;
  end if;
  if rarest > few then
    on_sale := (select listing_count from search_term_counts where kind = 'lexeme' and term = '*');
    return next;
    return;
  end if;
  if is_one_word and facet is null and coalesce(min_price, max_price) is null and min_rating is null then
    counted := rarest;
  end if;
  words := plainto_tsquery('english', q);
  titles := (select string_agg(quote_literal('title ' || lexeme), ' & ')::tsquery from unnest(lexemes) lexeme);
  if facet is not null then
    words := words && quote_literal(facet)::tsquery;
  end if;
  if rarest <= most_read and not (is_one_word and facet is null) then
    words_to_read := words;
    words := quote_literal(rarest_word)::tsquery;
  end if;
  if rarest <= most_read and not is_one_word then
    titles_to_read := titles;
    titles := quote_literal('title ' || rarest_word)::tsquery;
  end if;
  -- By relevance, listings with all the words in their titles come first, and then the newest.
  if sort = 'relevance' and rarest_title > 0 and rarest > 1 then
    -- As a function, the second condition is not for the index.
    titled := array(select seq from listing_search
      where document @@ titles and (titles_to_read is null or ts_match_vq(document, titles_to_read)));
  end if;
  return query
    with found as materialized (
      select * from (
        select seq, listing_search.listing_id, published_at, price_lamports, rating, rating_order from listing_search
        where document @@ words and (words_to_read is null or ts_match_vq(document, words_to_read))
        -- Apart: without knowing the bounds, their indexes look better to the planner than the words' does.
        offset 0
      ) worded where (min_price is null or price_lamports >= min_price)
        and (max_price is null or price_lamports <= max_price) and (min_rating is null or rating >= min_rating)
    ), page as (
      select ordered.listing_id, row_number() over () as position from (
        select found.listing_id from found order by
          case when sort = 'relevance' then seq in (select unnest(titled)) end desc,
          case when sort = 'rating' then rating_order end desc,
          case sort when 'price_asc' then price_lamports when 'price_desc' then -price_lamports end,
          published_at desc, seq
        limit page_limit offset page_offset
      ) ordered
    )
    select '{}'::text[], rarest, rarest_title, on_sale, counts.total, null::text, null::text, null::bigint, page.listing_id, page.position
      from (select coalesce(counted, (select count(*) from found)) as total) counts left join page on true;
end $$
