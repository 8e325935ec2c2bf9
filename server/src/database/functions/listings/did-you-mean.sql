-- The words of a search, with each unknown word replaced by the most similar word of a listing. Words that differ by a
-- letter (word_deletions) come first. Null if each word is known, or one has no similar word. Each word costs a look-up, so
-- a search of more than most_words gets null.
create or replace function did_you_mean(q text) returns text language plpgsql stable parallel safe
set plan_cache_mode = force_generic_plan as $$
declare
  most_words constant integer := 8;
begin
  return (
    select case when bool_or(not known) and bool_and(known or nearest is not null) and count(*) <= most_words
      then string_agg(coalesce(nearest, word), ' ' order by position) end
    from (
      select word, position, known, case when not known then coalesce(
        (select term from search_term_counts
          where kind = 'word' and listing_count > 0
            and deletions && array(select left(word, i - 1) || substr(word, i + 1) from generate_series(1, length(word) + 1) i)
          order by similarity(term, word) desc, listing_count desc, term limit 1),
        (select term from search_term_counts
          where kind = 'word' and listing_count > 0 and term % word
          order by similarity(term, word) desc, listing_count desc, term limit 1)) end as nearest
      from (
        select lexeme as word, positions[1] as position, numnode(plainto_tsquery('english', lexeme)) = 0
          or exists (select from search_term_counts where kind = 'lexeme' and listing_count > 0
            and term = any (tsvector_to_array(to_tsvector('english', lexeme)))) as known
        from unnest(to_tsvector('simple', q)) limit most_words + 1
      ) words
      offset 0 -- or each word is looked up twice
    ) words
  );
end $$
