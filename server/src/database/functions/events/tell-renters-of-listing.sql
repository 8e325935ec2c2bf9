-- Trigger of `listings`: tells those who rent it of another price, another version, a pause and its end. One row each.
create or replace function tell_renters_of_listing() returns trigger language plpgsql as $$
declare
  changed record;
  told boolean := false;
begin
  for changed in
    select 'listing.' || new.status as name, jsonb_build_object('listing_id', new.id) as data
      where new.status <> old.status and new.status in ('paused', 'closed')
    union all
    select 'price.changed', jsonb_build_object('listing_id', new.id, 'price_lamports', new.price_lamports,
        'previous_price_lamports', old.price_lamports)
      where new.price_lamports <> old.price_lamports
    union all
    select 'listing.version_changed', jsonb_build_object('listing_id', new.id, 'version', number,
        'breaking', coalesce(change_kind = 'breaking', false))
      from agent_versions where id = new.version_id and new.version_id <> old.version_id
  loop
    insert into events (wallet, name, subject, sequence, data)
    select buyer, changed.name, 'listing:' || new.id,
      1 + coalesce((select max(sequence) from events
        where wallet = buyer and subject = 'listing:' || new.id), 0), changed.data
      from credentials
      where listing_address = new.address and valid and (expires_at is null or expires_at > now());
    told := told or found;
  end loop;
  if told then
    perform pg_notify('events', '');
  end if;
  return null;
end $$
