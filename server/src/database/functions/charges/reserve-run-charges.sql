-- Takes credits and reserves charges for runs of one balance, in their order. The bounds are the program's: it keeps 256
-- sequences apart, and accepts none more than 1,024 above its highest. In PL/pgSQL each statement sees the rows committed
-- before it, so it counts the reservations of the lock's previous holder. `is_at_start` tells whether the charge is due
-- at the start or at the agent's answer. An agent without a recent answer may be gone. Without a possible credit, such a
-- charge would pay for nothing.
create or replace function reserve_run_charges(balance text, renter text, listing text, runs uuid[], prices bigint[])
returns table (outcome text, new_sequence bigint, available bigint, is_at_start boolean)
language plpgsql set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
declare
  account balances%rowtype;
  credited boolean[];
  lowest bigint;
  highest bigint;
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
  -- A charge is sent after its signature is durable, and this with it: the disk is not waited for here.
  perform set_config('synchronous_commit', 'off', true);
  is_at_start := may_credit(renter, listing) and not exists (
    select from runs as started
    where started.id = any (reserve_run_charges.runs) and not exists (
      select from agent_contacts as contact
      where contact.version_id = started.version_id
        and contact.reached_at > now() - interval '{{agent_contact_minutes}} minutes'));
  for place in 1 .. cardinality(runs) loop
    update credits set used_by_run_id = runs[place] where run_id = (
      select run_id from credits
      where wallet = renter and listing_id = listing and used_by_run_id is null
      order by created_at limit 1 for update skip locked);
    credited[place] := found;
  end loop;
  available := 0;
  if false = any (credited) then
    select * into account from balances where address = balance for update;
    -- A charge whose bit is set in this snapshot is already out of the snapshot's balance.
    select coalesce(account.balance_lamports, 0) - coalesce(sum(price_lamports), 0), min(sequence)
      into available, lowest from charges
      where balance_address = balance and state in ('reserved', 'signed', 'confirmed')
        and case when account.highest_sequence - sequence between 0 and 255
          then get_bit(account.window_bits, (account.highest_sequence - sequence)::integer) = 0 else true end;
    select greatest(max(sequence), account.highest_sequence) into highest from charges
      where balance_address = balance;
  end if;
  for place in 1 .. cardinality(runs) loop
    new_sequence := null;
    if credited[place] then
      outcome := 'credited';
    elsif account.address is null or available < prices[place] then
      outcome := 'insufficient';
    elsif highest + 1 - coalesce(lowest, highest + 1) > 255 or highest + 1 - account.highest_sequence > 1024 then
      outcome := 'full';
    else
      outcome := 'reserved';
      highest := highest + 1;
      lowest := coalesce(lowest, highest);
      available := available - prices[place];
      new_sequence := highest;
      insert into charges (run_id, wallet, listing_id, balance_address, price_lamports, sequence, state)
        values (runs[place], renter, listing, balance, prices[place], highest, 'reserved');
    end if;
    return next;
  end loop;
end $$
