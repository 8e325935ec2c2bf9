-- Takes the free run of a wallet for a listing, and marks its run. It refuses with `used` where the wallet has had it. With
-- `listing`, `address` or `wallet` the limit of 24 hours is used up, with `hour` the listing's limit of one hour. In
-- PL/pgSQL each statement has a new snapshot, so it sees the writes of the previous lock holder.
create or replace function take_trial(run uuid, listing text, renter text, sender text) returns text language plpgsql as $$
begin
  -- Always in this order: two takers never wait for each other.
  perform pg_advisory_xact_lock(hashtextextended('trials of listing ' || listing, 0));
  perform pg_advisory_xact_lock(hashtextextended('trials of wallet ' || renter, 0));
  if exists (select from trials where wallet = renter and listing_id = listing) then
    return 'used';
  end if;
  if (select count(*) from trials where listing_id = listing and taken_at > now() - interval '24 hours')
      >= {{trials_of_listing_per_day}} then
    return 'listing';
  end if;
  if (select count(*) from trials
      where listing_id = listing and taken_at > now() - interval '24 hours' and address = sender)
      >= {{trials_of_address_per_day}} then
    return 'address';
  end if;
  if (select count(*) from trials where listing_id = listing and taken_at > now() - interval '1 hour')
      >= {{trials_of_listing_per_hour}} then
    return 'hour';
  end if;
  if (select count(*) from trials where wallet = renter and taken_at > now() - interval '24 hours')
      >= {{trials_of_wallet_per_day}} then
    return 'wallet';
  end if;
  insert into trials (wallet, listing_id, run_id, address) values (renter, listing, run, sender);
  update runs set is_trial = true where id = run;
  return 'taken';
end
$$
