-- Trigger of `listings`: a version is replaced when its listing gets another one, by a replica of any release.
create or replace function note_replaced_version() returns trigger language plpgsql as $$
begin
  update agent_versions set replaced_at = now() where id = old.version_id and replaced_at is null;
  return null;
end
$$
