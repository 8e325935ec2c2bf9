import { hash, randomBytes, randomUUID } from 'node:crypto';
import { APP_SCOPES, type ApiKeyScope, type AppScope, type SpendingPolicy } from '@agent-rental/contract';
import { sql } from 'kysely';
import type { Db } from '../../database/connection.js';
import { requireRoomForKey } from '../api-keys.js';
import { OAuthError } from './oauth-error.js';
import { issueTokens, type IssuedTokens } from './app-tokens.js';
import { canonicalResource } from './service-urls.js';

/** A wallet's grant to an app, and the request for it. */
export interface NewGrant {
  wallet: string;
  /** The client's own name. */
  name: string;
  /** The address of its metadata document, or a hash of its id. */
  client: string;
  clientId: string;
  redirectUri: string;
  redirectHost: string;
  resource: string;
  codeChallenge: string;
  /** The thumbprint of the only key that may redeem the code (RFC 9449, section 10); absent: any. */
  boundTo: string | undefined;
  scopes: readonly AppScope[];
  policy: SpendingPolicy | undefined;
}

/** Who redeems a code, and how it shows that it began the login. */
interface Redemption {
  code: string;
  clientId: string;
  redirectUri: string;
  verifier: string;
  /** Absent: the one resource that there is. */
  resource: string | undefined;
  /** The thumbprint of the key that the client has proved; absent: none. */
  boundTo: string | undefined;
}

interface Refreshing {
  token: string;
  clientId: string;
  resource: string | undefined;
  scope: string | undefined;
  boundTo: string | undefined;
}

/** The apps that wallets have connected. Each is a row of `api_keys` without a key, so that scopes and policies hold as for keys. */
export interface AppGrants {
  /** Connects an app. Gives its code, which counts once and for a minute. @throws ApiError for a wallet with too many keys. */
  connect(grant: NewGrant): Promise<string>;
  /**
   * Exchanges a code for tokens. A code that comes a second time ends the app: one of the two who had it stole it.
   *
   * @throws OAuthError `invalid_grant` or `invalid_target`
   */
  redeem(redemption: Redemption): Promise<IssuedTokens>;
  /**
   * Exchanges a refresh token for new tokens, with fewer scopes where it is asked for them. For 30 seconds a second use gives
   * the same tokens: another process of the client, or one whose answer was lost. Later it ends the app (RFC 9700, section
   * 4.14.2).
   *
   * @throws OAuthError `invalid_grant`, `invalid_target` or `invalid_scope`
   */
  refresh(refreshing: Refreshing): Promise<IssuedTokens>;
  /** Ends an access token, or with a refresh token the app (RFC 7009). @throws OAuthError for a token of another client. */
  revoke(token: string, clientId: string): Promise<void>;
  /** Whether a client has an app that works. */
  hasClient(clientId: string): Promise<boolean>;
}

/** How long a code counts. Clients redeem it at once. */
const CODE_SECONDS = 60;
/** How long after its first use a refresh token may come again. */
const REPEATED_SECONDS = 30;

type Outcome = IssuedTokens | OAuthError;

const WRONG_CODE =
  'The code is not valid, has been used, has expired, or is for another client or redirect URI.';
const WRONG_REFRESH_TOKEN = 'The refresh token is not valid, was used before, or its app was disconnected.';
const digestOf = (secret: string) => hash('sha256', secret, 'buffer');

/** Makes the store of connected apps. Decides by the database's clock and under its locks, for any number of replicas. */
export function createAppGrants(db: Db): AppGrants {
  /** Throws an error after its transaction, not inside: an app that a reuse ends stays ended. */
  const decide = async (work: (tx: Db) => Promise<Outcome>): Promise<IssuedTokens> => {
    const outcome = await db.transaction().execute(work);
    if (outcome instanceof OAuthError) throw outcome;
    return outcome;
  };

  return {
    async connect(grant) {
      const code = randomBytes(32).toString('base64url');
      await db.transaction().execute(async (tx) => {
        await requireRoomForKey(tx, grant.wallet);
        const { id } = await tx
          .insertInto('api_keys')
          .values({
            id: randomUUID(),
            wallet: grant.wallet,
            label: grant.name,
            digest: null,
            scopes: APP_SCOPES.filter((scope) => grant.scopes.includes(scope)),
            policy: grant.policy === undefined ? null : JSON.stringify(grant.policy),
            app: JSON.stringify({
              client: grant.client,
              redirect_host: grant.redirectHost,
              resource: grant.resource,
            }),
            // It lasts once its code was redeemed.
            expires_at: sql<Date>`now() + make_interval(secs => ${CODE_SECONDS})`,
            revoked_at: null,
          })
          .returning('id')
          .executeTakeFirstOrThrow();
        await tx
          .insertInto('oauth_codes')
          .values({
            digest: digestOf(code),
            api_key_id: id,
            client_digest: digestOf(grant.clientId),
            redirect_uri: grant.redirectUri,
            code_challenge: grant.codeChallenge,
            jkt: grant.boundTo ?? null,
            expires_at: sql<Date>`now() + make_interval(secs => ${CODE_SECONDS})`,
            used_at: null,
          })
          .execute();
      });
      return code;
    },

    redeem: ({ code, clientId, redirectUri, verifier, resource, boundTo }) =>
      decide(async (tx) => {
        const row = await tx
          .selectFrom('oauth_codes')
          .innerJoin('api_keys', 'api_keys.id', 'oauth_codes.api_key_id')
          .select([
            'oauth_codes.api_key_id',
            'client_digest',
            'redirect_uri',
            'code_challenge',
            'jkt',
            'used_at',
            'scopes',
            'app',
            sql<boolean>`oauth_codes.expires_at > now() and revoked_at is null`.as('is_alive'),
          ])
          .where('oauth_codes.digest', '=', digestOf(code))
          .forUpdate()
          .executeTakeFirst();
        if (!row) return new OAuthError('invalid_grant', WRONG_CODE);
        if (row.used_at) {
          await disconnect(tx, row.api_key_id);
          return new OAuthError('invalid_grant', WRONG_CODE);
        }
        const fits =
          row.is_alive &&
          row.client_digest.equals(digestOf(clientId)) &&
          row.redirect_uri === redirectUri &&
          // Of a hash that was told to everybody: no secret is compared.
          row.code_challenge === hash('sha256', verifier, 'base64url');
        if (!fits) return new OAuthError('invalid_grant', WRONG_CODE);
        if (isForeign(resource, row.app)) return foreignResource();
        if (row.jkt !== null && row.jkt !== boundTo) return otherKey();
        await tx
          .updateTable('oauth_codes')
          .set({ used_at: sql`now()` })
          .where('digest', '=', digestOf(code))
          .execute();
        const salt = randomBytes(32);
        return issueTokens(tx, row, { replaced: code, salt, scopes: row.scopes, boundTo });
      }),

    refresh: ({ token, clientId, resource, scope, boundTo }) =>
      decide(async (tx) => {
        const digest = digestOf(token);
        const row = await tx
          .selectFrom('oauth_tokens')
          .innerJoin('api_keys', 'api_keys.id', 'oauth_tokens.api_key_id')
          .select([
            'oauth_tokens.api_key_id',
            'client_digest',
            'used_at',
            'salt',
            'jkt',
            'oauth_tokens.scopes',
            'app',
            sql<boolean>`used_at <= now() - make_interval(secs => ${REPEATED_SECONDS})`.as('is_stolen'),
            sql<boolean>`oauth_tokens.expires_at > now() and revoked_at is null`.as('is_alive'),
          ])
          .where('oauth_tokens.digest', '=', digest)
          .where('kind', '=', 'refresh')
          .forUpdate()
          .executeTakeFirst();
        if (!row?.client_digest.equals(digestOf(clientId))) {
          return new OAuthError('invalid_grant', WRONG_REFRESH_TOKEN);
        }
        // Before a reuse counts: who has the token without its key ends nothing.
        if (row.jkt !== null && row.jkt !== boundTo) return otherKey();
        if (row.is_stolen) await disconnect(tx, row.api_key_id);
        if (row.is_stolen || !row.is_alive) return new OAuthError('invalid_grant', WRONG_REFRESH_TOKEN);
        if (isForeign(resource, row.app)) return foreignResource();
        const scopes = knownScopes(scope, row.scopes);
        if (scopes.some((name) => !row.scopes.includes(name))) {
          return new OAuthError(
            'invalid_scope',
            `Tokens of this app have the scopes that its person chose: ${row.scopes.join(' ')}.`,
          );
        }
        const salt = row.salt ?? randomBytes(32);
        await tx
          .updateTable('oauth_tokens')
          .set({ used_at: sql`now()`, salt })
          .where('digest', '=', digest)
          .where('used_at', 'is', null)
          .execute();
        return issueTokens(tx, row, { replaced: token, salt, scopes, boundTo });
      }),

    async revoke(token, clientId) {
      const row = await db
        .selectFrom('oauth_tokens')
        .select(['api_key_id', 'client_digest', 'kind'])
        .where('digest', '=', digestOf(token))
        .executeTakeFirst();
      // RFC 7009, section 2.2: a token that is none is as good as revoked.
      if (!row) return;
      if (!row.client_digest.equals(digestOf(clientId))) {
        throw new OAuthError('invalid_client', 'The token was given to another client.');
      }
      if (row.kind === 'refresh') await disconnect(db, row.api_key_id);
      else {
        // It stays: a repeated refresh does not bring it back.
        await db
          .updateTable('oauth_tokens')
          .set({ expires_at: sql`least(expires_at, now())` })
          .where('digest', '=', digestOf(token))
          .execute();
      }
    },

    async hasClient(clientId) {
      const found = await db
        .selectFrom('oauth_tokens')
        .innerJoin('api_keys', 'api_keys.id', 'oauth_tokens.api_key_id')
        .select('api_keys.id')
        .where('client_digest', '=', digestOf(clientId))
        .where('revoked_at', 'is', null)
        .where('api_keys.expires_at', '>', sql<Date>`now()`)
        .limit(1)
        .executeTakeFirst();
      return found !== undefined;
    },
  };
}

async function disconnect(on: Db, id: string): Promise<void> {
  await on
    .updateTable('api_keys')
    .set({ revoked_at: sql`coalesce(revoked_at, now())` })
    .where('id', '=', id)
    .execute();
}

function isForeign(resource: string | undefined, app: { resource: string } | null): boolean {
  return resource !== undefined && canonicalResource(resource) !== app?.resource;
}

function otherKey(): OAuthError {
  return new OAuthError(
    'invalid_grant',
    'It is bound to a key, and the request has no proof of that key (DPoP).',
  );
}

function foreignResource(): OAuthError {
  return new OAuthError('invalid_target', 'The resource is not the one that the login was for.');
}

/** The scopes of a request that apps may have. Without any of them, the request is for all that it could have. */
export function knownScopes<S extends ApiKeyScope>(
  scope: string | undefined,
  all: readonly S[],
): (S | AppScope)[] {
  const asked = new Set(scope?.split(' '));
  const known = APP_SCOPES.filter((name) => asked.has(name));
  return known.length > 0 ? known : [...all];
}
