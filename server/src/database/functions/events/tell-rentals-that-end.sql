-- Tells renters of rentals that end within 7 days or within 1 day, and that have ended; each once for an end. Tells at most so
-- many, the earliest end first, and gives how many.
create or replace function tell_rentals_that_end(most integer) returns integer language plpgsql as $$
declare
  ending record;
  told integer := 0;
begin
  -- The next call sees what this one told.
  perform pg_advisory_xact_lock(hashtextextended('tell_rentals_that_end', 0));
  for ending in
    select c.address, c.buyer, c.expires_at, l.id as listing_id, kind.*
    from credentials c join listings l on l.address = c.listing_address cross join lateral (
      select case when c.expires_at <= now() then 'rental.expired' else 'rental.expiring' end as name,
        case when c.expires_at <= now() then null when c.expires_at <= now() + interval '1 day' then 1 else 7 end as days
      ) kind
    where c.valid and c.expires_at is not null
      and c.expires_at > now() - interval '1 day' and c.expires_at <= now() + interval '7 days'
      -- Not by `exists`: the planner would read all events for it.
      and (select id from events where wallet = c.buyer and subject = 'rental:' || c.address and name = kind.name
        and data -> 'expires_at' = to_jsonb(c.expires_at) and data -> 'days' is not distinct from to_jsonb(kind.days)
        limit 1) is null
    order by c.expires_at limit most for update of c skip locked
  loop
    perform append_event(ending.buyer, ending.name, 'rental:' || ending.address,
      jsonb_strip_nulls(jsonb_build_object('credential', ending.address, 'listing_id', ending.listing_id,
        'expires_at', ending.expires_at, 'days', ending.days)));
    told := told + 1;
  end loop;
  return told;
end $$
