-- A word, and its forms without one of its letters. Two words that differ by a missing, added, replaced or swapped letter
-- have one of these in common.
create or replace function word_deletions(word text) returns text[] language sql immutable strict parallel safe as $$
  select array_agg(left(word, i - 1) || substr(word, i + 1)) from generate_series(1, length(word) + 1) i
$$
