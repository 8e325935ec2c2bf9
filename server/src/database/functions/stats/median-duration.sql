-- The median duration of a listing's runs with a result in the last 30 days, in milliseconds: the middle of its step in
-- `listing_stats`. Null without such a run.
create or replace function median_duration(listing text) returns integer language sql stable as $$
  select round(2 ^ ((step + 0.5) / 8))::integer from (
    select step, sum(amount) over (order by step) as reached, sum(amount) over () as total from (
      select detail::integer as step, sum(amount) as amount from listing_stats
      where listing_id = listing and grain = 'day' and started_at > now() - interval '30 days' and measure = 'duration'
      group by 1
    ) as steps
  ) as sums
  where reached >= ceil(total * 0.5) order by step limit 1
$$
