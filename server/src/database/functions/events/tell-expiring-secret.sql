-- Tells a creator once that the replaced webhook secret of an agent ends then. The caller has locked the listing.
create or replace function tell_expiring_secret(listing text, ends_at text) returns void language plpgsql as $$
declare
  owner text := (select creator from listings where id = listing);
begin
  if not exists (select from events where wallet = owner and subject = 'listing:' || listing
      and name = 'secret.expiring' and data ->> 'expires_at' = ends_at) then
    perform append_event(owner, 'secret.expiring', 'listing:' || listing,
      jsonb_build_object('listing_id', listing, 'expires_at', ends_at));
  end if;
end $$
