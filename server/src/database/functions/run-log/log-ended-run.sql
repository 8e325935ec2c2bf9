-- Trigger of `runs`: an ended run waits for the run log, unless its charge is on-chain.
create or replace function log_ended_run() returns trigger language plpgsql as $$
begin
  insert into run_log_entries (run_id)
  select new.id
  where not exists (
    select from charges where run_id = new.id and state in ('confirmed', 'finalized', 'credited')
  )
  on conflict (run_id) do nothing;
  return null;
end $$
