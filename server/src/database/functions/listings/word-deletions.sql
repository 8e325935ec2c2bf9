-- A word, and what is left of it without one of its letters. Two words that differ by a letter that was left out,
-- added, replaced or swapped with the next have one of these in common.
create or replace function word_deletions(word text) returns text[] language sql immutable strict parallel safe as $$
  select array_agg(left(word, i - 1) || substr(word, i + 1)) from generate_series(1, length(word) + 1) i
$$
