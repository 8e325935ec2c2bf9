-- Notes the result of a nightly run of a listing; a failure says why. Nothing where another version runs by now.
create or replace function note_health_check(listing text, version uuid, failure text) returns void language plpgsql as $$
declare
  noted record;
begin
  -- The listing's row first, as folding does.
  perform from listings where id = listing and version_id = version for no key update;
  if not found then
    return;
  end if;
  update listing_health
    set checked_at = now(), problem = failure,
      failed_days = case when failure is null then 0 else failed_days + 1 end,
      failing_from = case when failure is null then null else coalesce(failing_from, now()) end
    where listing_id = listing returning failed_days, failing_from into noted;
  -- The row is wide and is read by every run: it is written when something changes.
  if failure is null then
    update listings set failing_since = null, hidden_since = null where id = listing and failing_since is not null;
  elsif noted.failed_days >= {{health_hidden_days}} then
    update listings set failing_since = coalesce(failing_since, noted.failing_from), hidden_since = now()
      where id = listing and hidden_since is null;
  elsif noted.failed_days >= {{health_failing_days}} then
    update listings set failing_since = noted.failing_from where id = listing and failing_since is null;
  end if;
end
$$
