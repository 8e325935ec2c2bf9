-- Trigger of `escrows`: adds what an escrow gained or lost to the sums of its listing's creator. An escrow whose listing is
-- not in the database belongs to no creator; a listing is there, as a draft, before its accounts are.
create or replace function keep_creator_earnings() returns trigger language plpgsql as $$
begin
  insert into creator_earnings as kept (creator, earned_lamports, withdrawable_lamports)
  select creator, sum(earned), sum(withdrawable) from (
    select creator, new.total_earned_lamports as earned, new.earnings_lamports as withdrawable
      from listings where tg_op <> 'DELETE' and address = new.listing_address
    union all
    select creator, -old.total_earned_lamports, -old.earnings_lamports
      from listings where tg_op <> 'INSERT' and address = old.listing_address
  ) differences
  group by creator having sum(earned) <> 0 or sum(withdrawable) <> 0 order by creator
  on conflict (creator) do update set earned_lamports = kept.earned_lamports + excluded.earned_lamports,
    withdrawable_lamports = kept.withdrawable_lamports + excluded.withdrawable_lamports;
  return null;
end
$$
