import { sql, type Kysely } from 'kysely';

/**
 * Finds listings by words in one call. As a function, because each of its statements is planned once for a connection and
 * begun only where it is needed: beginning one statement of them all takes longer than most searches.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

/** A word more costs a look-up more, and who writes so many has not mistyped one. */
const MOST_WORDS = 8;

const nearest = (candidates: string): string => `
  (select term from search_terms where kind = 'word' and listing_count > 0 and ${candidates}
    order by similarity(term, word) desc, listing_count desc, term limit 1)`;

const STATEMENTS = [
  // The words with the most similar ones that some listings have, of words that differ by a letter (what deletions
  // are, migration 0010 tells), else of all; null where each is known, or one has none.
  `create function did_you_mean(q text) returns text language plpgsql stable parallel safe
  set plan_cache_mode = force_generic_plan as $$
  begin
    return (
      select case when bool_or(not known) and bool_and(known or nearest is not null) and count(*) <= ${MOST_WORDS}
        then string_agg(coalesce(nearest, word), ' ' order by position) end
      from (
        select word, position, known, case when not known then coalesce(
          ${nearest(`deletions && array(select left(word, i - 1) || substr(word, i + 1) from generate_series(1, length(word) + 1) i)`)},
          ${nearest(`term % word`)}) end as nearest
        from (
          select lexeme as word, positions[1] as position, numnode(plainto_tsquery('english', lexeme)) = 0
            or exists (select from search_terms where kind = 'lexeme' and listing_count > 0
              and term = any (tsvector_to_array(to_tsvector('english', lexeme)))) as known
          from unnest(to_tsvector('simple', q)) limit ${MOST_WORDS + 1}
        ) words
        offset 0 -- or each word is looked up twice
      ) words
    );
  end $$`,

  // How many active listings have the rarest word; and, where that is no more than few, how many have all that is asked
  // for, and a page of them. A row for each listing of the page, or one without.
  `create function find_few_listings(
    q text, facet text, few integer, sort text, page_limit integer, page_offset integer,
    min_price bigint, max_price bigint, min_rating float8
  ) returns table (
    lexemes text[], rarest integer, rarest_title integer, on_sale integer, total bigint, did_you_mean text,
    listing_id text, "position" bigint
  ) language plpgsql stable rows 20 set plan_cache_mode = force_generic_plan as $$
  #variable_conflict use_column
  declare
    words tsquery;
    titled integer[] := '{}';
  begin
    lexemes := tsvector_to_array(to_tsvector('english', q));
    select
        coalesce(min(coalesce((select listing_count from search_terms where kind = 'lexeme' and term = lexeme), 0)), 0),
        coalesce(min(coalesce((select listing_count from search_terms where kind = 'lexeme' and term = 'title ' || lexeme), 0)), 0)
      into rarest, rarest_title from unnest(lexemes) lexeme;
    total := 0;
    if rarest = 0 then
      did_you_mean := did_you_mean(q);
      return next;
      return;
    end if;
    if rarest > few then
      on_sale := (select listing_count from search_terms where kind = 'lexeme' and term = '*');
      return next;
      return;
    end if;
    words := plainto_tsquery('english', q);
    if facet is not null then
      words := words && quote_literal(facet)::tsquery;
    end if;
    -- By relevance, listings with all the words in their titles come first, and then the newest.
    if sort = 'relevance' and rarest_title > 0 and rarest > 1 then
      titled := array(select seq from listing_search where document @@
        (select string_agg(quote_literal('title ' || lexeme), ' & ')::tsquery from unnest(lexemes) lexeme));
    end if;
    return query
      with worded as materialized (
        select seq, listing_search.listing_id, published_at, price_lamports, rating from listing_search
        where document @@ words
      ), found as materialized (
        -- Apart: without knowing the bounds, their indexes look better to the planner than the words' does.
        select * from worded where (min_price is null or price_lamports >= min_price)
          and (max_price is null or price_lamports <= max_price) and (min_rating is null or rating >= min_rating)
      ), page as (
        select ordered.listing_id, row_number() over () as position from (
          select found.listing_id from found order by
            case when sort = 'relevance' then seq in (select unnest(titled)) end desc,
            case when sort = 'rating' then rating end desc,
            case sort when 'price_asc' then price_lamports when 'price_desc' then -price_lamports end,
            published_at desc, seq
          limit page_limit offset page_offset
        ) ordered
      )
      select lexemes, rarest, rarest_title, on_sale, counted.count, null::text, page.listing_id, page.position
        from (select count(*) from found) counted left join page on true;
  end $$`,
];
