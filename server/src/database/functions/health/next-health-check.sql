-- When a listing is to be checked next: at its own place in the first six hours, UTC, of the next day.
create or replace function next_health_check(listing text) returns timestamptz language sql stable as $$
  select date_trunc('day', now(), 'UTC') + interval '1 day'
    + (hashtextextended(listing, 0) & 1048575) / 1048576.0 * interval '6 hours'
$$
