-- Writes down the transaction of one or more charges before it is sent. Gives the charges that have ended or were given
-- back: if there is one, nothing was written and the transaction must not be sent. Rows are locked in one order.
create or replace function sign_charges(runs uuid[], new_signature text, new_signed_bytes bytea, last_height bigint)
returns setof uuid language plpgsql set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
declare
  open_runs uuid[];
begin
  -- The state is filtered afterwards. As a condition it would choose the indexes of open charges, which have a dead entry
  -- for each charge since the oldest snapshot.
  select coalesce(array_agg(run_id) filter (where state in ('reserved', 'signed', 'confirmed')), '{}') into open_runs from (
    select run_id, state from charges where run_id = any (runs) order by run_id for update) as locked;
  if cardinality(open_runs) < cardinality(runs) then
    return query select asked.id from unnest(runs) as asked (id) where asked.id <> all (open_runs);
    return;
  end if;
  insert into charge_signatures (signature, run_id, signed_bytes, last_valid_block_height)
    select new_signature, asked.id, new_signed_bytes, last_height from unnest(runs) as asked (id);
  update charges
    set state = 'signed', updated_at = now(), attempts = 0
    where run_id = any (runs);
end $$
