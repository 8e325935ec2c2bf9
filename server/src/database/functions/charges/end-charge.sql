-- Ends a charge that can take the money no more; gives how, or null when it had ended already. One that was confirmed
-- once is lost: its output may have left. A credit that was given for it is withdrawn unless a run has used it, since
-- nothing was paid.
create or replace function end_charge(run uuid, code integer) returns text language plpgsql set plan_cache_mode = force_generic_plan as $$
declare
  ended text;
begin
  update charges
    set state = case when state = 'confirmed' or confirmed_at is not null then 'lost' else 'failed' end,
      failure_code = code, updated_at = now()
    where run_id = run and state in ('signed', 'confirmed')
    returning state into ended;
  if ended = 'lost' then
    delete from credits where run_id = run and used_by_run_id is null;
  end if;
  return ended;
end $$
