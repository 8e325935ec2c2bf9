-- Trigger of `charges`: the bytes of a charge that is final are needed by nothing. Its signatures stay, for its receipt.
create or replace function drop_wire() returns trigger language plpgsql as $$
begin
  update charge_signatures set wire = null where run_id = new.run_id and wire is not null;
  return null;
end $$
