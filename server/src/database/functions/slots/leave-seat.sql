-- Gives up a run's slot or its place in the queue; gives its listing. A place that is given up counts too: a wallet
-- that waited beside it may be alone now, and so may have more slots.
create or replace function leave_seat(run uuid) returns text language plpgsql set plan_cache_mode = force_generic_plan as $$
declare
  listing text;
  place_of text;
begin
  -- The place first: while it is taken out of the line and seated, this waits, and then sees the seat.
  delete from seat_line where run_id = run returning listing_id into place_of;
  delete from seats where run_id = run returning listing_id into listing;
  return coalesce(listing, place_of);
end $$
