-- Trigger of `runs`: counts a run that could not be served for its creator and its renter, in no success rate and without a cost.
create or replace function count_undelivered_run() returns trigger language plpgsql as $$
begin
  insert into listing_run_deltas (listing_id, run_count, completed_count, measure, detail, wallet, api_key_id)
    values (
      new.listing_id, 0, 0, 'undelivered', coalesce(new.failure_class, 'unknown'), new.wallet, new.api_key_id);
  return null;
end
$$
