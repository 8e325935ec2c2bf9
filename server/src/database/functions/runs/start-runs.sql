-- Records runs of a listing, and takes a slot for each, or a place in the queue (take_seat), in order. A run is not
-- recorded when another run has its key. A key with a window is free if its run ended by free_from, or was stopped.
-- Function resolveCall decides by the same rule and the same clock. Events of a callback have commas between them.
create or replace function start_runs(
  listing text, durable boolean, runs uuid[], versions uuid[], renters text[], api_keys uuid[], keys text[], free_from timestamptz[],
  requests bytea[], salts bytea[], inputs bytea[], entering boolean[], priority boolean[],
  seat_count integer, line_length integer, own_length integer, lease interval, claim interval,
  callback_urls text[], callback_events text[]
) returns table (started boolean, entry text) language plpgsql set plan_cache_mode = force_generic_plan as $$
declare
  usual constant text := current_setting('synchronous_commit');
  place integer;
  is_begun boolean[];
begin
  -- This commit need not wait for the disk: each later one that spends or answers does, and makes this one durable, too.
  perform set_config('synchronous_commit', 'off', true);
  -- In one order: batches of several replicas must not wait for each other. The listing's lock, which take_seat takes, is the last.
  for place in
    select each.place from unnest(runs, requests, renters, keys) with ordinality as each (run, request, renter, key, place)
    order by each.request, each.renter, each.key
  loop
    if free_from[place] is not null then
      update runs set idempotency_key = null
      where wallet = renters[place] and idempotency_key = keys[place]
        and (stop_reason is not null or finished_at <= free_from[place]);
    end if;
    insert into runs (
      id, listing_id, version_id, wallet, api_key_id, status, idempotency_key, request_digest, salt, input_digest
    ) values (
      runs[place], listing, versions[place], renters[place], api_keys[place], 'running', keys[place], requests[place],
      salts[place], inputs[place]
    ) on conflict (wallet, idempotency_key) do nothing;
    is_begun[place] := found;
    if is_begun[place] and callback_urls[place] is not null then
      insert into run_callbacks (run_id, url, events)
      values (runs[place], callback_urls[place], string_to_array(callback_events[place], ','));
    end if;
  end loop;
  for place in 1 .. cardinality(runs) loop
    started := is_begun[place];
    entry := case when started and entering[place] then take_seat(
      runs[place], listing, renters[place], priority[place], seat_count, line_length, own_length, lease, claim
    ) end;
    return next;
  end loop;
  if durable then
    perform set_config('synchronous_commit', usual, true);
  end if;
end $$
