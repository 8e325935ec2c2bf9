-- Trigger of `escrows`: adds an escrow's gain or loss to the sums of its creator, and to the listing's counts by hour and
-- day. An escrow whose listing is not in the database belongs to no creator. A listing exists, as a draft, before its
-- accounts do.
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
  -- By hour and day, as the index sees it. A row that is new may tell of any time, and begins the count.
  if tg_op = 'UPDATE' and new.total_earned_lamports <> old.total_earned_lamports then
    insert into listing_stats as kept (listing_id, grain, started_at, measure, detail, amount)
    select id, grain, date_trunc(grain, now(), 'UTC'), 'earned', '', new.total_earned_lamports - old.total_earned_lamports
    from listings cross join (values ('hour'), ('day')) as grains (grain)
    where address = new.listing_address
    on conflict (listing_id, grain, started_at, measure, detail) do update set amount = kept.amount + excluded.amount;
  end if;
  return null;
end
$$
