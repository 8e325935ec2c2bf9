-- Whether a wallet that holds some of the taken slots may take one more. The first slot of a wallet may come from a reserve,
-- a fifth of all. The rest of the reserve is closed to wallets with slots. While several wallets hold slots or wait, each may
-- hold half of the slots.
create or replace function may_take_slot(
  seat_count integer, taken bigint, held bigint, other_holders bigint, wallets bigint
) returns boolean language sql immutable as $$
  select taken < seat_count and (held = 0
    or held < most_slots(seat_count, least(wallets, 2))
      and taken < seat_count - greatest(least((seat_count + 4) / 5, seat_count - 1) - other_holders, 0))
$$
