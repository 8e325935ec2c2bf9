-- Records a run. False when a run with its key exists, or when an undelivered equal run is to be adopted first.
create or replace function begin_run(
  run uuid, listing text, version uuid, renter text, key text, request bytea, new_salt bytea, input bytea,
  alone boolean, patient boolean, durable boolean
) returns boolean language plpgsql set plan_cache_mode = force_generic_plan as $$
begin
  -- What is spent or answered later waits for the disk, and this with it.
  if not durable then
    perform set_config('synchronous_commit', 'off', true);
  end if;
  if alone then
    perform take_turn(renter, listing, request);
    if exists (
      select from unheard_runs
      where wallet = renter and listing_id = listing and request_digest = request
        and (patient or left_at is not null)
    ) then
      return false;
    end if;
  end if;
  insert into runs (
    id, listing_id, version_id, wallet, status, idempotency_key, request_digest, salt, input_digest
  ) values (run, listing, version, renter, 'running', key, request, new_salt, input)
    on conflict (wallet, idempotency_key) do nothing;
  return found;
end $$
