-- Gives the free slots to the next runs in line. Then the wallet's next turn comes after all waiting ones.
create or replace function hand_out_seats(listing text, seat_count integer, claim interval)
returns setof uuid language plpgsql set plan_cache_mode = force_generic_plan as $$
declare
  run uuid;
  renter text;
  priority boolean;
begin
  loop
    delete from seat_line where run_id = next_in_line(listing, seat_count)
      returning run_id, wallet, is_priority into run, renter, priority;
    exit when not found;
    insert into seats (run_id, listing_id, wallet, expires_at) values (run, listing, renter, now() + claim);
    update seat_line set turn = next.turn from (select nextval('seat_turns') as turn) as next
      where listing_id = listing and wallet = renter and is_priority = priority;
    return next run;
  end loop;
end $$
