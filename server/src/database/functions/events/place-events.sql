-- Gives the committed events of a wallet their places, up to 1,000 at once, before they are read. One reader at a time does so
-- and commits before the next: no place is given before one that was read. Places begin at the clock, not at a counter, so
-- that cursors outlive a restored backup.
create or replace function place_events(receiver text) returns void language plpgsql as $$
declare
  latest bigint;
begin
  -- Ordered, so that the planner takes the index, however large the wallet's share is.
  perform from events where wallet = receiver and position is null order by added limit 1;
  if not found then
    return;
  end if;
  perform pg_advisory_xact_lock(hashtextextended('events:' || receiver, 0));
  latest := greatest((extract(epoch from clock_timestamp()) * 1000000)::bigint,
    (select max(position) from events where wallet = receiver));
  update events set position = latest + placed.number
  from (
    select id, row_number() over (order by added) as number from (
      select id, added from events where wallet = receiver and position is null order by added limit 1000) as oldest
  ) as placed
  where events.id = placed.id;
end $$
