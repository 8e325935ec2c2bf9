-- Adds differences to the counts of search's terms, so many at most; gives how many. One at a time: `fold_deltas` has the lock.
create or replace function fold_search_terms(most integer) returns integer language plpgsql
set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off as $$
declare
  bound record;
  last_seq bigint;
  folded_count integer;
begin
  select * into bound from begin_fold('search terms');
  with folded as (
    delete from search_term_deltas where seq > bound.folded and seq <= (
      select max(seq) from (select seq from search_term_deltas where seq > bound.folded order by seq limit most) as batch)
    returning seq, kind, term, difference
  ), counted as (
    update search_terms set listing_count = listing_count + sums.difference
    from (select kind, term, sum(difference) as difference from folded group by kind, term) as sums
    where sums.difference <> 0 and search_terms.kind = sums.kind and search_terms.term = sums.term
  )
  select max(seq), count(*) into last_seq, folded_count from folded;
  perform end_fold('search terms', bound.reached, last_seq, folded_count < most);
  return folded_count;
end
$$
