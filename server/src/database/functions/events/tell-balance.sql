-- Trigger of `balances`: tells a renter of a balance that falls below the set number of runs, and of one that pays for none.
create or replace function tell_balance() returns trigger language plpgsql as $$
declare
  rented record;
  fell_to text;
  low bigint;
begin
  select id, price_lamports as price into rented from listings where address = new.listing_address;
  if not found or rented.price is null then
    return null;
  end if;
  low := rented.price * coalesce((select low_balance_runs from event_settings where wallet = new.buyer), {{low_balance_runs}});
  fell_to := case
    when new.balance_lamports < rented.price and old.balance_lamports >= rented.price then 'balance.empty'
    when new.balance_lamports between rented.price and low - 1
      and old.balance_lamports >= low then 'balance.low'
  end;
  if fell_to is not null then
    perform append_event(new.buyer, fell_to, 'balance:' || new.address,
      jsonb_build_object('listing_id', rented.id, 'balance_lamports', new.balance_lamports,
        'price_lamports', rented.price));
  end if;
  return null;
end $$
