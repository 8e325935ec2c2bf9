-- Addresses that hear of a wallet's events. One without `url` has the secret that signs callbacks of runs.
create table webhooks (
  id uuid primary key default gen_random_uuid(),
  wallet text not null,
  url text,
  -- Absent: all.
  events text[],
  sealed_secrets bytea not null,
  -- Batches since the last success, all failed, and the first of them.
  failures integer not null default 0,
  failing_since timestamptz,
  -- Until then the address gets nothing: it failed, or a server sends to it.
  rests_until timestamptz not null default now(),
  paused_at timestamptz,
  created_at timestamptz not null default now()
);
create index webhooks_of_wallet on webhooks (wallet, created_at);
create unique index webhooks_of_callbacks on webhooks (wallet) where url is null;

-- Where the events of one run go.
create table run_callbacks (
  run_id uuid primary key references runs (id) on delete cascade,
  url text not null,
  events text[],
  -- Requests in the form of another protocol, with the secrets of the receiver.
  sealed_push bytea
);

-- An event for a webhook. A trigger writes it in the event's transaction.
create table webhook_deliveries (
  webhook_id uuid not null references webhooks (id) on delete cascade,
  event_id uuid not null references events (id) on delete cascade,
  -- Of a run's callback.
  callback_url text,
  status text not null default 'pending' check (status in ('pending', 'delivered', 'failed')),
  attempts jsonb not null default '[]',
  -- A server that sends it moves this forward first, so that another one sends it if the first is killed.
  next_attempt_at timestamptz not null default now(),
  created_at timestamptz not null default now(),
  primary key (webhook_id, event_id)
) with (autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_insert_scale_factor=0.05, autovacuum_analyze_scale_factor=0.02);
create index webhook_deliveries_of_webhook on webhook_deliveries (webhook_id, next_attempt_at) where status = 'pending';
create index webhook_deliveries_list on webhook_deliveries (webhook_id, created_at, event_id);
create index webhook_deliveries_of_event on webhook_deliveries (event_id);

create trigger queue_deliveries
  after insert on events
  for each row execute function queue_deliveries();
