-- Gives one free run for a run that was charged and not delivered; gives whether it has one. It decides by the records
-- alone: the charge has taken the money, the run was not delivered, and no output of it has left. A charge whose output
-- would wait for finality has its credit wait, too. The credits of a day are bounded.
create or replace function give_credit(run uuid) returns boolean language plpgsql set plan_cache_mode = force_generic_plan as $$
declare
  charge charges%rowtype;
begin
  select * into charge from charges
    where run_id = run and (state in ('finalized', 'credited') or state = 'confirmed' and not awaits_finality);
  if not found or not exists (
      select from runs where id = run and status = 'undelivered' and output_left_at is null) then
    return false;
  end if;
  -- Credits of one wallet and listing are given one after the other, so that the bound is exact.
  perform pg_advisory_xact_lock(hashtextextended('credit ' || charge.wallet || ' ' || charge.listing_id, 0));
  if exists (select from credits where run_id = run) then
    return true;
  end if;
  if not may_credit(charge.wallet, charge.listing_id) then
    return false;
  end if;
  insert into credits (run_id, wallet, listing_id) values (run, charge.wallet, charge.listing_id);
  return true;
end $$
