-- Trigger of `agent_versions`: numbers the versions of an agent from 1. Updates of one agent come one after another under
-- the lock of its listing.
create or replace function number_version() returns trigger language plpgsql as $$
begin
  new.number := coalesce(new.number,
    (select coalesce(max(number), 0) + 1 from agent_versions where listing_id = new.listing_id));
  return new;
end
$$
