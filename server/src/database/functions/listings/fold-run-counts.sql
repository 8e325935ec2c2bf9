-- Adds differences to the counts of the listings' runs, so many at most; gives how many. One at a time: `fold_deltas` has the
-- lock.
create or replace function fold_run_counts(most integer) returns integer language plpgsql
set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off as $$
declare
  bound record;
  last_seq bigint;
  folded_count integer;
begin
  select * into bound from begin_fold('run counts');
  with folded as (
    delete from listing_run_deltas where seq in (
      select seq from listing_run_deltas where seq > bound.folded order by seq limit most)
    returning seq, listing_id, run_count, completed_count
  ), counted as (
    update listings
    set run_count = listings.run_count + sums.run_count, completed_count = listings.completed_count + sums.completed_count
    from (
      select listing_id, sum(run_count) as run_count, sum(completed_count) as completed_count
      from folded group by listing_id
    ) as sums
    where listings.id = sums.listing_id
  )
  select max(seq), count(*) into last_seq, folded_count from folded;
  perform end_fold('run counts', bound.reached, last_seq, folded_count < most);
  return folded_count;
end
$$
