import { hash, randomBytes } from 'node:crypto';
import type { ApiKeyScope, SpendingPolicy } from '@agent-rental/contract';
import { CompiledQuery, sql } from 'kysely';
import type { Db } from '../../database/connection.js';
import { prepare } from '../../database/prepared-statements.js';
import { ApiError } from '../../errors/api-error.js';
import type { Principal } from '../../access/principal.js';

/** How long an access token works. */
const ACCESS_TOKEN_SECONDS = 15 * 60;
/** After so many days without use an app is disconnected. */
const UNUSED_DAYS = 30;
/** How long after its end a code is kept, so that a second use is noticed. */
const CODE_KEPT_HOURS = 1;
/** How long an app that has ended is kept: its spends are counted until then. */
const ENDED_KEPT_DAYS = 2;

const ACCESS_PREFIX = 'ara_';
const REFRESH_PREFIX = 'arr_';

/** An answer of the token endpoint (RFC 6749, section 5.1). */
export interface IssuedTokens {
  access_token: string;
  token_type: 'Bearer';
  expires_in: number;
  refresh_token: string;
  scope: string;
}

/** The wallet and the API key of an access token. */
interface Verified {
  wallet: string;
  apiKey: NonNullable<Principal['apiKey']>;
}

/** Verifies access tokens, on every request: an app that was disconnected ends at once, on every replica. */
export interface AppTokens {
  /** Whether a bearer has the form of an access token. */
  isAccessToken(bearer: string): boolean;
  /**
   * The wallet and the limits of the app.
   *
   * @param resources the addresses that the service has here; a token is for one of them
   * @throws ApiError `unauthorized`
   */
  verify(token: string, resources: readonly string[]): Promise<Verified>;
}

const digestOf = (secret: string) => hash('sha256', secret, 'buffer');
const inSeconds = (seconds: number) => sql<Date>`now() + make_interval(secs => ${seconds})`;

const FIND = prepare(
  `select api_keys.id, wallet, scopes, policy, app ->> 'resource' as resource
   from oauth_tokens join api_keys on api_keys.id = oauth_tokens.api_key_id
   where oauth_tokens.digest = $1 and kind = 'access' and oauth_tokens.expires_at > now() and revoked_at is null`,
);
interface Found {
  id: string;
  wallet: string;
  scopes: ApiKeyScope[];
  policy: SpendingPolicy | null;
  resource: string;
}

/** Makes the verification. */
export function createAppTokens(db: Db): AppTokens {
  return {
    isAccessToken: (bearer) => bearer.startsWith(ACCESS_PREFIX),
    async verify(token, resources) {
      const { rows } = await db.executeQuery<Found>(CompiledQuery.raw(FIND, [digestOf(token)]));
      const [row] = rows;
      if (!row || !resources.includes(row.resource)) {
        throw new ApiError(
          'unauthorized',
          'The access token is not valid here, has expired, or its app was disconnected.',
          { next: 'Refresh it, or log in again.' },
        );
      }
      const { wallet, id, scopes, policy } = row;
      return { wallet, apiKey: { id, scopes, policy } };
    },
  };
}

/** Gives an app its next tokens, and more time. Call it under the lock of the code or token that they replace. */
export async function issueTokens(
  tx: Db,
  app: { api_key_id: string; client_digest: Buffer; scopes: readonly string[] },
): Promise<IssuedTokens> {
  const access = ACCESS_PREFIX + randomBytes(32).toString('base64url');
  const refresh = REFRESH_PREFIX + randomBytes(32).toString('base64url');
  const { api_key_id, client_digest } = app;
  const unusedSeconds = UNUSED_DAYS * 24 * 3600;
  const row = { api_key_id, client_digest, used_at: null };
  await tx
    .insertInto('oauth_tokens')
    .values([
      { ...row, digest: digestOf(access), kind: 'access', expires_at: inSeconds(ACCESS_TOKEN_SECONDS) },
      { ...row, digest: digestOf(refresh), kind: 'refresh', expires_at: inSeconds(unusedSeconds) },
    ])
    .execute();
  await tx
    .updateTable('api_keys')
    .set({ expires_at: inSeconds(unusedSeconds) })
    .where('id', '=', api_key_id)
    .execute();
  return {
    access_token: access,
    token_type: 'Bearer',
    expires_in: ACCESS_TOKEN_SECONDS,
    refresh_token: refresh,
    scope: app.scopes.join(' '),
  };
}

/** Removes expired tokens and codes, and ended apps that count no spends any more. */
export async function removeEndedApps(db: Db): Promise<void> {
  await db
    .deleteFrom('oauth_tokens')
    .where('expires_at', '<=', sql<Date>`now()`)
    .execute();
  await db
    .deleteFrom('oauth_codes')
    .where('expires_at', '<=', sql<Date>`now() - make_interval(hours => ${CODE_KEPT_HOURS})`)
    .execute();
  const ended = sql<Date>`now() - make_interval(days => ${ENDED_KEPT_DAYS})`;
  const apps = await db
    .deleteFrom('api_keys')
    .where('app', 'is not', null)
    .where('expires_at', '<=', ended)
    .where(sql<boolean>`not exists (select from api_key_spends where api_key_id = api_keys.id)`)
    .returning('id')
    .execute();
  if (apps.length === 0) return;
  const ids = apps.map(({ id }) => id);
  await db.deleteFrom('version_pins').where('api_key_id', 'in', ids).execute();
}
