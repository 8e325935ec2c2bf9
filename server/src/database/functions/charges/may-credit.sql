-- Whether another credit may be given for this wallet and listing. In PL/pgSQL its plan is kept; the plan of a function in SQL
-- is made for each call.
create or replace function may_credit(renter text, listing text) returns boolean
language plpgsql stable set plan_cache_mode = force_generic_plan as $$
begin
  return {{credits_per_day}} > (
    select count(*) from (
      select from credits
      where wallet = renter and listing_id = listing and created_at > now() - interval '24 hours'
      limit {{credits_per_day}}
    ) as given);
end $$
