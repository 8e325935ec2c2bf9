-- Tells renters of rentals that end within 7 days or within 1 day, and that have ended; each once for an end. Gives how many.
create or replace function tell_ending_rentals() returns integer language plpgsql as $$
declare
  ending record;
  told integer := 0;
begin
  for ending in
    select c.address, c.buyer, c.expires_at, l.id as listing_id,
      case when c.expires_at <= now() then null when c.expires_at <= now() + interval '1 day' then 1 else 7 end as days
    from credentials c join listings l on l.address = c.listing_address
    where c.valid and c.expires_at is not null
      and c.expires_at > now() - interval '1 day' and c.expires_at <= now() + interval '7 days'
    for update of c skip locked
  loop
    continue when exists (
      select from events where wallet = ending.buyer and subject = 'rental:' || ending.address
        and name = case when ending.days is null then 'rental.expired' else 'rental.expiring' end
        and data -> 'expires_at' = to_jsonb(ending.expires_at)
        and data -> 'days' is not distinct from to_jsonb(ending.days));
    perform append_event(ending.buyer, case when ending.days is null then 'rental.expired' else 'rental.expiring' end,
      'rental:' || ending.address,
      jsonb_strip_nulls(jsonb_build_object('credential', ending.address, 'listing_id', ending.listing_id,
        'expires_at', ending.expires_at, 'days', ending.days)));
    told := told + 1;
  end loop;
  return told;
end $$
