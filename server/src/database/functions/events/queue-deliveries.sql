-- Trigger of `events`: an event goes to the webhooks of its wallet, and to the callback of its run.
create or replace function queue_deliveries() returns trigger language plpgsql as $$
begin
  insert into webhook_deliveries (webhook_id, event_id)
  select id, new.id from webhooks
  where wallet = new.wallet and url is not null and paused_at is null
    and (events is null or new.name = any (events));
  if new.name like 'run.%' then
    insert into webhook_deliveries (webhook_id, event_id, callback_url)
    select w.id, new.id, c.url from run_callbacks c join webhooks w on w.wallet = new.wallet and w.url is null and w.paused_at is null
    where c.run_id = (new.data ->> 'run_id')::uuid and (c.events is null or new.name = any (c.events));
  end if;
  return null;
end $$
