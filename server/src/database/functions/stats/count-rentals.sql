-- Trigger of `credentials`: counts a new rental of a listing for its creator, at the time of its purchase. A fork that takes the
-- rental back takes back the count.
create or replace function count_rentals() returns trigger language plpgsql as $$
declare
  rental credentials;
begin
  rental := coalesce(new, old);
  insert into listing_run_deltas (listing_id, run_count, completed_count, measure, amount, noted_at)
    select id, 0, 0, 'rented', case tg_op when 'INSERT' then 1 else -1 end, rental.purchased_at
    from listings where address = rental.listing_address;
  return null;
end
$$
