-- Trigger of `api_keys`: tells a wallet of a new key or connected app.
create or replace function tell_new_key() returns trigger language plpgsql as $$
begin
  perform append_event(new.wallet, case when new.app is null then 'key.created' else 'app.connected' end,
    'key:' || new.id, jsonb_build_object('key_id', new.id, 'label', new.label, 'scopes', to_jsonb(new.scopes)));
  return null;
end $$
