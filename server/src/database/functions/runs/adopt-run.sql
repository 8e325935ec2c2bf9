-- Takes over the undelivered equal run that was left first. Null when there is none.
create or replace function adopt_run(renter text, listing text, request bytea) returns uuid language plpgsql set plan_cache_mode = force_generic_plan as $$
declare
  adopted uuid;
begin
  perform take_turn(renter, listing, request);
  -- The run's own transactions are waited for: a row that is passed over because it is locked is a run paid twice.
  update runs set waiters = 1, left_at = null where id = (
    select id from unheard_runs
    where wallet = renter and listing_id = listing and request_digest = request and left_at is not null
    order by left_at limit 1 for no key update
  ) returning id into adopted;
  return adopted;
end $$
