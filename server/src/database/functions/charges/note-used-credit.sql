-- Trigger of `credits`: a run that was not delivered gives back a credit that it uses after its end.
create or replace function note_used_credit() returns trigger language plpgsql as $$
begin
  insert into undelivered_runs (run_id)
  select id from runs where id = new.used_by_run_id and status = 'undelivered' and output_left_at is null
  on conflict (run_id) do update set noted_at = now(), next_attempt_at = now(), attempts = 0;
  return null;
end $$
