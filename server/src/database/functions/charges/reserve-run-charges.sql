-- As reserve_charges, which replicas of the version before call. It also gives whether the run is charged at its start,
-- or once its agent has answered: an agent without a recent answer may be gone, and a run that can no longer be
-- credited must not be charged for nothing.
create or replace function reserve_run_charges(balance text, renter text, listing text, runs uuid[], prices bigint[])
returns table (outcome text, new_sequence bigint, available bigint, is_at_start boolean)
language plpgsql as $$
declare
  at_start boolean;
begin
  -- The authority pays for a charge that fails on-chain: the buyer or the creator that makes charges fail is suspended.
  if 3 <= (select count(*) from charges
        where balance_address = balance and state = 'failed' and failure_code in ({{insufficient_balance}}, {{price_above_limit}})
          and updated_at > now() - interval '1 hour')
      or 10 <= (select count(*) from charges
        where listing_id = listing and state = 'failed' and failure_code = {{price_changed}}
          and updated_at > now() - interval '1 hour') then
    return query select 'suspended', null::bigint, 0::bigint, false from unnest(runs);
    return;
  end if;
  at_start := may_credit(renter, listing) and not exists (
    select from unnest(runs) as asked (id)
    join runs as begun on begun.id = asked.id
    left join agent_contacts as contact
      on contact.version_id = begun.version_id and contact.reached_at > now() - interval '{{agent_contact_minutes}} minutes'
    where contact.version_id is null);
  return query select reserved.outcome, reserved.new_sequence, reserved.available, at_start
    from reserve_charges(balance, renter, listing, runs, prices) as reserved;
end $$
