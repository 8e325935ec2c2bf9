-- Confirms charges with a landed transaction, and decides for each whether its output may leave now. It may while the
-- wallet's confirmed charges that are not final stay within the cap. Above the cap, output waits until its charge is final.
-- A wallet's charges are decided one after the other, on all replicas, so that the cap is exact. A decision is kept, also
-- for a charge that a fork drops and that is confirmed again.
create or replace function confirm_charges(runs uuid[], cap_lamports bigint, is_final boolean)
returns table (run_id uuid, has_moved boolean, is_released boolean) language plpgsql set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
declare
  charge record;
  unfinalized bigint;
  waits boolean;
begin
  for charge in select distinct wallet from charges where run_id = any (runs) order by wallet loop
    perform pg_advisory_xact_lock(hashtextextended('unfinalized ' || charge.wallet, 0));
  end loop;
  for charge in select * from charges where run_id = any (runs) order by run_id for update loop
    run_id := charge.run_id;
    has_moved := charge.state = 'signed';
    waits := charge.awaits_finality and not is_final;
    if has_moved and charge.confirmed_at is null and not is_final then
      select coalesce(sum(price_lamports), 0) into unfinalized from charges
        where wallet = charge.wallet and not awaits_finality
          and (state = 'confirmed' or state = 'signed' and confirmed_at is not null);
      waits := unfinalized + charge.price_lamports > cap_lamports;
    end if;
    if has_moved or waits <> charge.awaits_finality then
      update charges
        set state = case when has_moved then 'confirmed' else state end,
          confirmed_at = coalesce(confirmed_at, now()), awaits_finality = waits, updated_at = now(),
          -- Finality is looked for early, because a result waits for it.
          attempts = case when waits then 0 else attempts end,
          next_attempt_at = case when waits then now() + interval '2 seconds' else next_attempt_at end
        where charges.run_id = charge.run_id;
    end if;
    is_released := not waits and charge.state not in ('reserved', 'failed', 'lost');
    return next;
  end loop;
end $$
