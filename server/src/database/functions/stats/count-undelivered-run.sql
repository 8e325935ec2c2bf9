-- Trigger of `runs`: counts a run that could not be served in its creator's counts of the listing, and in no success rate.
create or replace function count_undelivered_run() returns trigger language plpgsql as $$
begin
  insert into listing_run_deltas (listing_id, run_count, completed_count, measure, detail)
    values (new.listing_id, 0, 0, 'undelivered', coalesce(new.failure_class, 'unknown'));
  return null;
end
$$
