-- Trigger of `listings`: a listing on sale is checked every night. A listing that was paused meanwhile keeps its state.
create or replace function watch_listing_health() returns trigger language plpgsql as $$
begin
  insert into listing_health (listing_id, due_at) values (new.id, next_health_check(new.id))
    on conflict (listing_id) do nothing;
  return null;
end
$$
