-- Adds an event in the caller's transaction, and wakes its readers at the commit. The caller has locked, or just made, the
-- row that the subject names: so the events of a subject are numbered one after another.
create or replace function append_event(receiver text, event text, about text, content jsonb, key uuid default null)
returns void language plpgsql as $$
begin
  insert into events (wallet, name, subject, sequence, data, api_key_id)
  values (receiver, event, about,
    1 + coalesce((select max(sequence) from events where wallet = receiver and subject = about), 0), content, key);
  perform pg_notify('events', receiver);
end $$
