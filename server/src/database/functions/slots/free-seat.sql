-- Gives up a run's slot or its place in the queue, and tells all replicas that the run has changed. Gives its listing if
-- another run waits, which may be next. A place counts too: another waiting wallet may be alone now, and may have more
-- slots. Needs the listing's lock; a run that enters later finds the free slot itself.
create or replace function free_seat(run uuid, channel text) returns text language plpgsql set plan_cache_mode = force_generic_plan as $$
declare
  listing text;
begin
  -- This commit need not wait for the disk: a lease that a crash brings back lapses.
  perform set_config('synchronous_commit', 'off', true);
  perform pg_notify(channel, run::text);
  select place.listing_id into listing from (
    select listing_id from seats where run_id = run union all select listing_id from seat_line where run_id = run
  ) as place limit 1;
  if listing is null then
    return null;
  end if;
  perform pg_advisory_xact_lock(hashtextextended(listing, 0));
  delete from seat_line where run_id = run;
  delete from seats where run_id = run;
  perform from seat_line where listing_id = listing limit 1;
  return case when found then listing end;
end $$
