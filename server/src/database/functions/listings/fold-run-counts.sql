-- Adds at most `most` differences to the counts of the listings' runs. Adds them to the creators' counts by hour and day, and
-- to the renters' by day. Gives their number. A completed run shows that its listing works, and brings its median duration up to
-- date once an hour. One at a time: `fold_deltas` has the lock.
create or replace function fold_run_counts(most integer) returns integer language plpgsql
set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off as $$
declare
  bound record;
  last_seq bigint;
  folded_count integer;
  working text[];
begin
  select * into bound from begin_fold('run counts');
  with folded as (
    delete from listing_run_deltas where seq > bound.folded and seq <= (
      select max(seq) from (select seq from listing_run_deltas where seq > bound.folded order by seq limit most) as batch)
    returning seq, listing_id, run_count, completed_count, measure, detail, amount, duration_ms, noted_at, wallet, api_key_id,
      cost_lamports
  ), counted as (
    update listings
    set run_count = listings.run_count + sums.run_count, completed_count = listings.completed_count + sums.completed_count,
      failing_since = case when sums.completed_count = 0 then failing_since end,
      hidden_since = case when sums.completed_count = 0 then hidden_since end
    from (
      select listing_id, sum(run_count) as run_count, sum(completed_count) as completed_count
      from folded group by listing_id having sum(run_count) <> 0
    ) as sums
    where listings.id = sums.listing_id
  ), noted as (
    insert into listing_stats as kept (listing_id, grain, started_at, measure, detail, amount)
    select folded.listing_id, grain, date_trunc(grain, folded.noted_at, 'UTC'), stats.measure, stats.detail, sum(stats.amount)
    from folded
    cross join lateral stats_of_delta(
      folded.measure, folded.detail, folded.amount, folded.run_count, folded.completed_count, folded.duration_ms
    ) as stats
    cross join (values ('hour'), ('day')) as grains (grain)
    group by 1, 2, 3, 4, 5
    on conflict (listing_id, grain, started_at, measure, detail) do update set amount = kept.amount + excluded.amount
  ), rented as (
    insert into renter_stats as kept (owner, started_at, listing_id, completed, failed, undelivered, spent_lamports)
    select owner, date_trunc('day', folded.noted_at, 'UTC'), folded.listing_id,
      count(*) filter (where measure = 'completed'), count(*) filter (where measure = 'failed'),
      count(*) filter (where measure = 'undelivered'), coalesce(sum(folded.cost_lamports), 0)
    from folded cross join lateral (values (folded.wallet), (folded.api_key_id::text)) as owners (owner)
    where owner is not null
    group by 1, 2, 3
    on conflict (owner, started_at, listing_id) do update set completed = kept.completed + excluded.completed,
      failed = kept.failed + excluded.failed, undelivered = kept.undelivered + excluded.undelivered,
      spent_lamports = kept.spent_lamports + excluded.spent_lamports
  )
  select max(seq), count(*), array_agg(distinct listing_id) filter (where completed_count > 0)
    into last_seq, folded_count, working from folded;
  update listing_health set failed_days = 0, failing_from = null, problem = null
    where listing_id = any (working) and failed_days > 0;
  update listings set median_ms = median_duration(id), median_at = now()
    where id = any (working) and (median_at is null or median_at < now() - interval '1 hour');
  perform end_fold('run counts', bound.reached, last_seq, folded_count < most);
  return folded_count;
end
$$
