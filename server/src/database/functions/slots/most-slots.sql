-- Of so many slots the most that one of so many wallets has a claim to.
create or replace function most_slots(seat_count integer, wallets bigint) returns bigint language sql immutable as $$
  select (seat_count + greatest(wallets, 1) - 1) / greatest(wallets, 1)
$$
