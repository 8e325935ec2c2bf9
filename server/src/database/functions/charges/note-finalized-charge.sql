-- Trigger of `charges`: the credit of a run that was not delivered is due once its charge is final.
create or replace function note_finalized_charge() returns trigger language plpgsql as $$
begin
  insert into undelivered_runs (run_id)
  select id from runs where id = new.run_id and status = 'undelivered' and output_left_at is null
  on conflict (run_id) do update set noted_at = now(), next_attempt_at = now(), attempts = 0;
  return null;
end $$
