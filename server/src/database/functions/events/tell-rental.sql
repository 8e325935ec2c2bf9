-- Trigger of `credentials`: tells the renter and the creator of a new rental.
create or replace function tell_rental() returns trigger language plpgsql as $$
declare
  rented record;
  content jsonb;
begin
  select id, creator into rented from listings where address = new.listing_address;
  if not found then
    return null;
  end if;
  content := jsonb_build_object('credential', new.address, 'listing_id', rented.id, 'rental_model', new.rental_model);
  perform append_event(new.buyer, 'rental.created', 'rental:' || new.address, content);
  perform append_event(rented.creator, 'rental.sold', 'sale:' || new.address, content);
  return null;
end $$
