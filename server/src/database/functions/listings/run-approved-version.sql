-- Trigger of `listings`: a first publication runs the approved version. A draft may change between the co-signature and
-- the landing of its transaction.
create or replace function run_approved_version() returns trigger language plpgsql as $$
declare
  approved record;
begin
  select id, description, category into approved from agent_versions where id = new.approved_version_id;
  if found then
    new.version_id := approved.id;
    new.description := coalesce(approved.description, new.description);
    new.category := coalesce(approved.category, new.category);
    new.review_state := 'approved';
    new.review_reason := 'The listing was published with the version that was approved; a later change of it does not '
      || 'run. Send that change again with PATCH /v1/agents/:listing_id.';
  end if;
  return new;
end
$$
