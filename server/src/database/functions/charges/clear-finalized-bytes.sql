-- Trigger of `charges`: the bytes of a charge that is final are needed by nothing. Its signatures stay, for its receipt.
create or replace function clear_finalized_bytes() returns trigger language plpgsql as $$
begin
  update charge_signatures set signed_bytes = null where run_id = new.run_id and signed_bytes is not null;
  return null;
end $$
