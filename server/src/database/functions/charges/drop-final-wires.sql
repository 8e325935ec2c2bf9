-- Drops the bytes of charges that were final before there was the trigger `drop_wire`: of so many charges a call, in the order
-- of their runs. Gives whether there are more. It notes how far it is, and so reads each charge once.
create or replace function drop_final_wires(most integer) returns boolean language plpgsql as $$
declare
  start uuid;
  last uuid;
begin
  select reached into start from backfills where name = 'charge wires' and not is_done for update skip locked;
  if not found then
    return false;
  end if;
  select run_id into last from (
    select run_id from charges where run_id > start order by run_id limit most
  ) as page order by run_id desc limit 1;
  -- As an array, which is looked up by an index: of a join all signatures may be read.
  update charge_signatures set wire = null
    where wire is not null and run_id = any (array(
      select charges.run_id from charges
      where charges.run_id > start and charges.run_id <= last and charges.state in ('finalized', 'credited')));
  update backfills set reached = coalesce(last, reached), is_done = last is null where name = 'charge wires';
  return last is not null;
end $$
