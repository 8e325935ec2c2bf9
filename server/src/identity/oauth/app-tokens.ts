import { createHmac, hash } from 'node:crypto';
import type { ApiKeyScope, SpendingPolicy } from '@agent-rental/contract';
import { CompiledQuery, sql } from 'kysely';
import type { Db } from '../../database/connection.js';
import { prepare } from '../../database/prepared-statements.js';
import { ApiError } from '../../errors/api-error.js';
import type { Principal } from '../../access/principal.js';

/** How long an access token works. */
const ACCESS_TOKEN_SECONDS = 15 * 60;
/** After 30 days without use an app is disconnected. */
const UNUSED_SECONDS = 30 * 24 * 3600;
/** How long after its end a code or token is kept, so that a second use is noticed and a revoked token stays so. */
const KEPT_HOURS = 1;
/** How long an app that has ended is kept: its spends are counted until then. */
const ENDED_KEPT_DAYS = 2;

const ACCESS_PREFIX = 'ara_';
const REFRESH_PREFIX = 'arr_';

/** An answer of the token endpoint (RFC 6749, section 5.1), to a program with the key of a wallet: it needs no refresh token. */
export interface IssuedAccess {
  access_token: string;
  /** `DPoP`: bound to the key of the client. */
  token_type: 'Bearer' | 'DPoP';
  expires_in: number;
  scope: string;
}

/** An answer of the token endpoint to an app. */
export interface IssuedTokens extends IssuedAccess {
  refresh_token: string;
}

/** The wallet and the API key of an access token. */
interface Verified {
  wallet: string;
  apiKey: NonNullable<Principal['apiKey']>;
  /** The thumbprint of the key that the token is bound to. */
  boundTo: string | undefined;
  /** The address that it is for. */
  resource: string;
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
  `select api_keys.id, wallet, oauth_tokens.scopes, policy, jkt, app ->> 'resource' as resource
   from oauth_tokens join api_keys on api_keys.id = oauth_tokens.api_key_id
   where oauth_tokens.digest = $1 and kind = 'access' and oauth_tokens.expires_at > now() and revoked_at is null`,
);
interface Found {
  id: string;
  wallet: string;
  scopes: ApiKeyScope[];
  policy: SpendingPolicy | null;
  jkt: string | null;
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
      const { wallet, id, scopes, policy, jkt, resource } = row;
      return { wallet, apiKey: { id, scopes, policy }, boundTo: jkt ?? undefined, resource };
    },
  };
}

/** An app as its tokens know it. */
interface TokenOwner {
  api_key_id: string;
  client_digest: Buffer;
  /** All scopes of the app. */
  scopes: ApiKeyScope[];
}

/** How new tokens follow from the code or token that they replace. */
interface Replacement {
  replaced: string;
  salt: Buffer;
  /** The access token's scopes; the refresh token keeps all of the app (RFC 6749, section 6). */
  scopes: ApiKeyScope[];
  /** The thumbprint of the key that they are bound to (RFC 9449, section 5); absent: to none. */
  boundTo: string | undefined;
}

/**
 * Gives an app the tokens that replace a code or token, and more time. The same replacement gives the same
 * tokens. Neither a replaced token nor the database alone tells them. Call it under the lock of the code or token.
 */
export async function issueTokens(
  tx: Db,
  app: TokenOwner,
  { replaced, salt, scopes, boundTo }: Replacement,
): Promise<IssuedTokens> {
  const secretFor = (use: string) =>
    createHmac('sha256', replaced)
      .update(salt)
      .update(boundTo === undefined ? use : `${use} of ${boundTo}`)
      .digest('base64url');
  const refresh = REFRESH_PREFIX + secretFor('refresh');
  const { api_key_id, client_digest } = app;
  await tx
    .insertInto('oauth_tokens')
    .values({
      api_key_id,
      client_digest,
      digest: digestOf(refresh),
      kind: 'refresh',
      scopes: app.scopes,
      expires_at: inSeconds(UNUSED_SECONDS),
      used_at: null,
      salt: null,
      jkt: boundTo ?? null,
    })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  const issued = await issueAccessToken(tx, app, {
    secret: secretFor(`access ${scopes.join(' ')}`),
    scopes,
    boundTo,
  });
  return { ...issued, refresh_token: refresh };
}

/** Gives an app an access token, and more time. The same secret is the same token. */
export async function issueAccessToken(
  tx: Db,
  { api_key_id, client_digest }: Pick<TokenOwner, 'api_key_id' | 'client_digest'>,
  { secret, scopes, boundTo }: { secret: string } & Pick<Replacement, 'scopes' | 'boundTo'>,
): Promise<IssuedAccess> {
  const access = ACCESS_PREFIX + secret;
  const { left } = await tx
    .insertInto('oauth_tokens')
    .values({
      api_key_id,
      client_digest,
      digest: digestOf(access),
      kind: 'access',
      scopes,
      expires_at: inSeconds(ACCESS_TOKEN_SECONDS),
      used_at: null,
      salt: null,
      jkt: boundTo ?? null,
    })
    // Returns an earlier row without a change.
    .onConflict((conflict) => conflict.column('digest').doUpdateSet({ used_at: null }))
    .returning(
      sql<number>`greatest(0, floor(extract(epoch from oauth_tokens.expires_at - now())))::int`.as('left'),
    )
    .executeTakeFirstOrThrow();
  await tx
    .updateTable('api_keys')
    .set({ expires_at: inSeconds(UNUSED_SECONDS) })
    .where('id', '=', api_key_id)
    .execute();
  return {
    access_token: access,
    token_type: boundTo === undefined ? 'Bearer' : 'DPoP',
    expires_in: left,
    scope: scopes.join(' '),
  };
}

/** Removes expired tokens and codes, and ended apps that count no spends any more. */
export async function removeEndedApps(db: Db): Promise<void> {
  const expired = sql<Date>`now() - make_interval(hours => ${KEPT_HOURS})`;
  await db.deleteFrom('oauth_tokens').where('expires_at', '<=', expired).execute();
  await db.deleteFrom('oauth_codes').where('expires_at', '<=', expired).execute();
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
