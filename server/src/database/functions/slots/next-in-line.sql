-- The next run whose wallet may have another slot (may_take_slot). A wallet that holds its share or more goes after the
-- wallets that hold less.
create or replace function next_in_line(listing text, seat_count integer) returns uuid language sql stable as $$
  with held as (
    select wallet, count(*) as slots from seats where listing_id = listing group by wallet
  ), holders as (
    select count(*) as wallets, coalesce(sum(slots), 0)::bigint as taken from held
  ), present as (
    select count(*) as wallets from (
      select wallet from held union select wallet from seat_line where listing_id = listing
    ) as each
  )
  select line.run_id from seat_line as line left join held using (wallet), holders, present
  where line.listing_id = listing
    and may_take_slot(
      seat_count, holders.taken, coalesce(held.slots, 0), holders.wallets - (held.slots is not null)::integer, present.wallets)
  order by (coalesce(held.slots, 0) < most_slots(seat_count, present.wallets)) desc,
    line.is_priority desc, line.turn, line.place
  limit 1
$$
