-- Trigger of `listings`: a listing is published, ends, or goes to another creator. Keeps the number of each creator's
-- published listings, and moves the listing's earnings.
create or replace function count_creator_listings() returns trigger language plpgsql as $$
declare
  moves constant boolean := tg_op = 'UPDATE' and old.creator <> new.creator;
begin
  insert into creator_earnings as kept (creator, listing_count, earned_lamports, withdrawable_lamports)
  select creator, sum(published), sum(earned), sum(withdrawable) from (
    select new.creator, 1 as published, 0 as earned, 0 as withdrawable
      where tg_op <> 'DELETE' and new.status <> 'draft'
    union all
    select old.creator, -1, 0, 0 where tg_op <> 'INSERT' and old.status <> 'draft'
    union all
    select new.creator, 0, total_earned_lamports, earnings_lamports
      from escrows where moves and listing_address = new.address
    union all
    select old.creator, 0, -total_earned_lamports, -earnings_lamports
      from escrows where moves and listing_address = new.address
  ) differences
  group by creator order by creator
  on conflict (creator) do update set listing_count = kept.listing_count + excluded.listing_count,
    earned_lamports = kept.earned_lamports + excluded.earned_lamports,
    withdrawable_lamports = kept.withdrawable_lamports + excluded.withdrawable_lamports;
  return null;
end
$$
