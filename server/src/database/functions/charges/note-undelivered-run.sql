-- Trigger of `runs`: queues an undelivered run without any delivered output. It may get a credit, or give back the credit
-- that it used.
create or replace function note_undelivered_run() returns trigger language plpgsql as $$
begin
  insert into undelivered_runs (run_id) values (new.id)
  on conflict (run_id) do update set noted_at = now(), next_attempt_at = now(), attempts = 0;
  return null;
end $$
