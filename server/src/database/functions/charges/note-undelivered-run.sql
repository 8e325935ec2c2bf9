-- Trigger of `runs`: a run that was not delivered, and of which no output has left, may be owed a credit, and gives back
-- the credit that it used.
create or replace function note_undelivered_run() returns trigger language plpgsql as $$
begin
  insert into undelivered_runs (run_id) values (new.id)
  on conflict (run_id) do update set noted_at = now(), next_attempt_at = now(), attempts = 0;
  return null;
end $$
