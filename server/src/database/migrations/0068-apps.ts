import { sql, type Kysely } from 'kysely';

/** Keeps the apps that wallets have connected by OAuth, as keys without a digest, with their codes and tokens. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  `alter table api_keys alter column digest drop not null`,
  `alter table api_keys add column app jsonb`,
  `alter table api_keys add column expires_at timestamptz`,
  `alter table api_keys add constraint api_keys_key_or_app
    check ((digest is null) = (app is not null) and (app is null) = (expires_at is null))`,
  `create index api_keys_app_ends on api_keys (expires_at) where expires_at is not null`,
  `create table oauth_codes (
    digest bytea primary key,
    api_key_id uuid not null references api_keys (id) on delete cascade,
    client_digest bytea not null,
    redirect_uri text not null,
    code_challenge text not null,
    expires_at timestamptz not null,
    used_at timestamptz
  )`,
  `create index oauth_codes_of_app on oauth_codes (api_key_id)`,
  `create index oauth_codes_ends on oauth_codes (expires_at)`,
  `create table oauth_tokens (
    digest bytea primary key,
    api_key_id uuid not null references api_keys (id) on delete cascade,
    client_digest bytea not null,
    kind text not null check (kind in ('access', 'refresh')),
    expires_at timestamptz not null,
    used_at timestamptz
  )`,
  `create index oauth_tokens_of_app on oauth_tokens (api_key_id)`,
  `create index oauth_tokens_of_client on oauth_tokens (client_digest)`,
  `create index oauth_tokens_ends on oauth_tokens (expires_at)`,
];
