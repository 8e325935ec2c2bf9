-- The counts of a row of `listing_run_deltas`: how a run ended, and its duration, in steps of the eighth root of two. A row
-- without a measure comes from a replica that knew none.
create or replace function stats_of_delta(
  given text, given_detail text, given_amount integer, runs integer, completed integer, taken_ms integer
) returns table (measure text, detail text, amount integer) language sql immutable parallel safe as $$
  select coalesce(given, case when completed > 0 then 'completed' else 'failed' end),
      case when given is null and completed = 0 then 'unknown' else given_detail end,
      case when given is null then runs else given_amount end
    where given is not null or runs > 0
  union all
  select 'duration', floor(8 * ln(greatest(taken_ms, 1)::float8) / ln(2::float8))::integer::text, 1
    where taken_ms is not null
$$
