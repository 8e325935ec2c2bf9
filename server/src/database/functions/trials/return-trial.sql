-- Trigger of `runs`: a trial that could not be served may be taken again.
create or replace function return_trial() returns trigger language plpgsql as $$
begin
  delete from trials where run_id = new.id;
  return null;
end
$$
