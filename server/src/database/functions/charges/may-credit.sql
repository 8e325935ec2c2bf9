-- Whether another credit may be given for this wallet and listing.
create or replace function may_credit(renter text, listing text) returns boolean language sql stable as $$
  select count(*) < {{credits_per_day}} from (
    select from credits
    where wallet = renter and listing_id = listing and created_at > now() - interval '24 hours'
    limit {{credits_per_day}}
  ) as given
$$
