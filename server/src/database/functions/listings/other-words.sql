-- Words in place of the words of a search that are in no listing.
--
-- `did_you_mean` has the most similar word of a listing for each. Words that differ by a letter (word_deletions) come first.
-- `longer` is a query of the words of listings that begin with it, the most frequent ones; it finds about `longer_listings`.
-- With `with_known`, it also replaces a known word. Null if there is nothing to replace, or nothing for a word. Each
-- word costs look-ups, so a search of more than most_words gets null.
create or replace function other_words(q text, with_known boolean)
returns table (did_you_mean text, longer text, longer_listings bigint)
language plpgsql stable parallel safe rows 1 set plan_cache_mode = force_generic_plan as $$
declare
  most_words constant integer := 8;
  most_longer constant integer := 20;
  most_read constant integer := 1000;
begin
  return query
    select
      case when bool_or(not known) and bool_and(known or nearest is not null) and count(*) <= most_words
        then string_agg(coalesce(nearest, word), ' ' order by position) end,
      case when bool_or(begin_query is not null) and bool_and(known or begin_query is not null) and count(*) <= most_words
        then string_agg('(' || coalesce(begin_query, whole) || ')', ' & ') filter (where whole <> '') end,
      min(listings)
    from (
      select word, position, whole, known, began.query as begin_query, began.listings, case when not known then coalesce(
        (select term from search_term_counts
          where kind = 'word' and listing_count > 0
            and deletions && array(select left(word, i - 1) || substr(word, i + 1) from generate_series(1, length(word) + 1) i)
          order by similarity(term, word) desc, listing_count desc, term limit 1),
        (select term from search_term_counts
          where kind = 'word' and listing_count > 0 and term % word
          order by similarity(term, word) desc, listing_count desc, term limit 1)) end as nearest
      from (
        select lexeme as word, positions[1] as position, plainto_tsquery('english', lexeme)::text as whole,
          numnode(plainto_tsquery('english', lexeme)) = 0
          or exists (select from search_term_counts where kind = 'lexeme' and listing_count > 0
            and term = any (tsvector_to_array(to_tsvector('english', lexeme)))) as known
        from unnest(to_tsvector('simple', q)) limit most_words + 1
      ) words
      left join lateral (
        select string_agg(quote_literal(lexeme), ' | ') as query, sum(listing_count)::bigint as listings from (
          select (tsvector_to_array(to_tsvector('english', term)))[1] as lexeme, listing_count from (
            select term, listing_count from search_term_counts
            where kind = 'word' and term ~>~ word and term ~<~ (word || chr(1114111)) limit most_read
          ) candidates
          where listing_count > 0 order by listing_count desc, term limit most_longer
        ) terms where lexeme is not null
      ) began on word ~ '^[[:alpha:]]{3,30}$' and (not known or with_known and whole <> '')
      offset 0 -- or each word is looked up twice
    ) words;
end $$
