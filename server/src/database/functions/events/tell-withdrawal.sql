-- Trigger of `escrows`: tells a creator that earnings were withdrawn.
create or replace function tell_withdrawal() returns trigger language plpgsql as $$
declare
  earned record;
begin
  select id, creator into earned from listings where address = new.listing_address;
  if found then
    perform append_event(earned.creator, 'earnings.withdrawn', 'earnings:' || earned.id,
      jsonb_build_object('listing_id', earned.id, 'lamports', old.earnings_lamports - new.earnings_lamports
        + new.total_earned_lamports - old.total_earned_lamports));
  end if;
  return null;
end $$
