-- What counts once: login challenges, assertions of clients, and proofs of possession; kept until it has ended.
create table used_challenges (
  digest bytea primary key,
  expires_at timestamptz not null
) with (autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=1000);
create index used_challenges_expires on used_challenges (expires_at);

create table api_keys (
  id uuid primary key,
  wallet text not null,
  label text not null,
  digest bytea unique,
  created_at timestamptz not null default now(),
  revoked_at timestamptz,
  policy jsonb,
  scopes text[] not null default '{run,rent}',
  app jsonb,
  expires_at timestamptz,
  constraint api_keys_key_or_app check ((digest is null) = (app is not null) and (app is null) = (expires_at is null))
);
create index api_keys_app_ends on api_keys (expires_at) where expires_at is not null;
create index api_keys_wallet on api_keys (wallet);

-- What keys with a daily limit have spent within the last day.
create table api_key_spends (
  id text primary key,
  api_key_id uuid not null references api_keys (id),
  kind text not null check (kind in ('run', 'rental')),
  lamports bigint not null,
  created_at timestamptz not null default now()
) with (autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_insert_scale_factor=0.05, autovacuum_analyze_scale_factor=0.02);
create index api_key_spends_created on api_key_spends (created_at);
create index api_key_spends_recent on api_key_spends (api_key_id, kind, created_at);

-- Codes by which apps that were just connected get their first tokens; kept a while after their use.
create table oauth_codes (
  digest bytea primary key,
  api_key_id uuid not null references api_keys (id) on delete cascade,
  client_digest bytea not null,
  redirect_uri text not null,
  code_challenge text not null,
  expires_at timestamptz not null,
  used_at timestamptz,
  jkt text
);
create index oauth_codes_ends on oauth_codes (expires_at);
create index oauth_codes_of_app on oauth_codes (api_key_id);

-- Tokens of connected apps. Refresh tokens that were used stay until they would have ended. `jkt`: the key that a token is bound to.
create table oauth_tokens (
  digest bytea primary key,
  api_key_id uuid not null references api_keys (id) on delete cascade,
  client_digest bytea not null,
  kind text not null check (kind in ('access', 'refresh')),
  scopes text[] not null,
  expires_at timestamptz not null,
  used_at timestamptz,
  salt bytea,
  jkt text,
  check ((used_at is null) = (salt is null))
);
create index oauth_tokens_ends on oauth_tokens (expires_at);
create index oauth_tokens_of_app on oauth_tokens (api_key_id);
create index oauth_tokens_of_client on oauth_tokens (client_digest);

-- What API keys ask the owner of their wallet to approve; kept for a day after it has expired.
create table spending_approvals (
  id uuid primary key,
  wallet text not null,
  api_key_id uuid not null,
  kind text not null check (kind in ('run', 'rental')),
  listing_id text not null,
  lamports bigint not null,
  call_digest bytea not null,
  state text not null default 'open' check (state in ('open', 'approved', 'refused')),
  used_by text,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  check (used_by is null or state = 'approved')
);
create index spending_approvals_expiry on spending_approvals (expires_at);
create index spending_approvals_of_call on spending_approvals (api_key_id, call_digest);
create index spending_approvals_of_wallet on spending_approvals (wallet, created_at) where state = 'open';
create index spending_approvals_used on spending_approvals (used_by) where used_by is not null;

-- Values derived from keys: a wrong key is found at the start.
create table key_checks (
  name text primary key,
  value bytea not null
);

-- The keys that sign and authenticate the service's tokens and receipts. The first of each purpose comes from the master key.
create table service_keys (
  purpose text not null,
  number integer not null check (number > 0),
  kid text not null,
  sealed bytea,
  public_key bytea,
  made_at timestamptz not null default now(),
  signs_from timestamptz not null default now(),
  accepted_until timestamptz,
  revoked_at timestamptz,
  check (sealed is not null or accepted_until is not null),
  check (revoked_at is null or accepted_until is not null),
  primary key (purpose, number)
);
