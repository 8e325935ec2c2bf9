-- Trigger of `credits`: tells a wallet that it has a free run for one that failed by our fault.
create or replace function tell_credit() returns trigger language plpgsql as $$
begin
  perform append_event(new.wallet, 'run.credited', 'run:' || new.run_id,
    jsonb_build_object('run_id', new.run_id, 'listing_id', new.listing_id),
    (select api_key_id from runs where id = new.run_id));
  return null;
end $$
