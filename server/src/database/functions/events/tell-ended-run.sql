-- Trigger of `runs`: tells the caller's wallet of the end of a run.
create or replace function tell_ended_run() returns trigger language plpgsql as $$
begin
  perform append_event(new.wallet, case new.status when 'completed' then 'run.completed' else 'run.failed' end,
    'run:' || new.id,
    jsonb_build_object('run_id', new.id, 'listing_id', new.listing_id,
      'status', case new.status when 'completed' then 'completed' else 'failed' end),
    new.api_key_id);
  return null;
end $$
