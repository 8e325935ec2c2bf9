-- Takes a free slot of a listing, or else a place in its queue. In PL/pgSQL each statement has a new snapshot, so it sees
-- the writes of the previous lock holder.
create or replace function take_seat(
  run uuid, listing text, renter text, priority boolean,
  seat_count integer, line_length integer, own_length integer, lease interval, claim interval
) returns text language plpgsql set plan_cache_mode = force_generic_plan as $$
declare
  taken bigint;
  held bigint;
  others bigint;
  waiting bigint;
  own bigint;
  own_turn bigint;
  -- Names a setting of this session; listings share them, so that there are not too many.
  setting constant text := 'agent_rental.places_' || (hashtextextended(listing, 1) & 1023);
  known text[] := string_to_array(current_setting(setting, true), ' ');
  seats_gone bigint := 0;
  places_gone bigint := 0;
  first_seat bigint;
  first_place bigint;
  newest bigint;
begin
  -- A lease needs no disk: were the database to crash, the runs that it was for would be made good.
  perform set_config('synchronous_commit', 'off', true);
  perform pg_advisory_xact_lock(hashtextextended(listing, 0));
  -- Slots and places up to these numbers are gone for good, as this session found. Their index entries stay as long as an
  -- old snapshot is open. Later ones are taken under the lock alone, and have higher numbers.
  if known[1] = listing then
    seats_gone := known[2]::bigint;
    places_gone := known[3]::bigint;
  end if;
  with lapsed as (delete from seats where listing_id = listing and place > seats_gone and expires_at <= now())
    delete from seat_line where listing_id = listing and place > places_gone and expires_at <= now();
  -- A run that asked for its state while it was handed a seat was told that it has none.
  update seats set expires_at = now() + lease where run_id = run;
  if found then
    return 'seated';
  end if;
  update seat_line set expires_at = now() + claim where run_id = run;
  if found then
    return 'waiting';
  end if;
  select count(*), count(*) filter (where wallet = renter), count(distinct wallet) filter (where wallet <> renter), min(place)
    into taken, held, others, first_seat from seats where listing_id = listing and place > seats_gone;
  -- All waiting runs of a wallet share one turn, so another place is not another turn.
  select count(*), count(*) filter (where wallet = renter),
      max(turn) filter (where wallet = renter and is_priority = priority), min(place)
    into waiting, own, own_turn, first_place from seat_line where listing_id = listing and place > places_gone;
  select last_value into newest from seat_turns;
  -- Taken back with this transaction, should it fail.
  perform set_config(setting, concat_ws(' ', listing, coalesce(first_seat, newest) - 1, coalesce(first_place, newest) - 1), false);
  -- A wallet that waits while slots are free holds all that it may have: it delays only itself.
  if own = 0 and may_take_slot(seat_count, taken, held, others, case when others > 0 or waiting > 0 then 2 else 1 end)
      and (waiting = 0 or next_in_line(listing, seat_count) is null) then
    insert into seats (run_id, listing_id, wallet, expires_at) values (run, listing, renter, now() + lease);
    return 'seated';
  end if;
  if waiting >= line_length or own >= own_length then
    return 'full';
  end if;
  insert into seat_line (run_id, listing_id, wallet, is_priority, turn, expires_at)
    values (run, listing, renter, priority, coalesce(own_turn, nextval('seat_turns')), now() + claim);
  return 'waiting';
end $$
