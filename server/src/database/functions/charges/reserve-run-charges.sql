-- As reserve_charges, which replicas of the previous version call. is_at_start tells whether the charge is due at the start
-- or at the agent's answer. An agent without a recent answer may be gone. Such a charge without a possible credit would pay
-- for nothing.
create or replace function reserve_run_charges(balance text, renter text, listing text, runs uuid[], prices bigint[])
returns table (outcome text, new_sequence bigint, available bigint, is_at_start boolean)
language plpgsql set plan_cache_mode = force_generic_plan as $$
declare
  at_start boolean;
begin
  -- The authority pays for a charge that fails on-chain. So within an hour the third failure suspends a balance, and the
  -- tenth failure suspends a listing.
  if exists (select from charges
        where balance_address = balance and state = 'failed' and failure_code in ({{insufficient_balance}}, {{price_above_limit}})
          and updated_at > now() - interval '1 hour' offset 2)
      or exists (select from charges
        where listing_id = listing and state = 'failed' and failure_code = {{price_changed}}
          and updated_at > now() - interval '1 hour' offset 9) then
    return query select 'suspended', null::bigint, 0::bigint, false from unnest(runs);
    return;
  end if;
  at_start := may_credit(renter, listing) and not exists (
    select from runs as started
    where started.id = any (reserve_run_charges.runs) and not exists (
      select from agent_contacts as contact
      where contact.version_id = started.version_id
        and contact.reached_at > now() - interval '{{agent_contact_minutes}} minutes'));
  for outcome, new_sequence, available in
    select * from reserve_charges(balance, renter, listing, runs, prices)
  loop
    is_at_start := at_start;
    return next;
  end loop;
end $$
