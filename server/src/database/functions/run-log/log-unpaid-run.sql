-- Trigger of `charges`: a run whose charge will never be on-chain waits for the run log. It may have counted as charged
-- when it ended.
create or replace function log_unpaid_run() returns trigger language plpgsql as $$
begin
  insert into run_log_entries (run_id) values (new.run_id) on conflict (run_id) do nothing;
  return null;
end $$
