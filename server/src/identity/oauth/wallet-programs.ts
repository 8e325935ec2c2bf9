import { hash, randomBytes, randomUUID } from 'node:crypto';
import { APP_SCOPES, type AppScope } from '@agent-rental/contract';
import { sql } from 'kysely';
import type { Db } from '../../database/connection.js';
import { lockKeysOf, requireRoomForKey } from '../api-keys.js';
import { issueAccessToken, type IssuedAccess } from './app-tokens.js';
import { OAuthError } from './oauth-error.js';

const LABEL = 'Programs with the key of this wallet';
const PLACE = 'the wallet itself';

/** The login of a program that has the key of a wallet. */
interface ProgramLogin {
  wallet: string;
  scope: string | undefined;
  /** The address at which the token works. */
  resource: string;
  /** The thumbprint of the key that the program has proved; absent: none. */
  boundTo: string | undefined;
}

/** Logs programs in that have the key of a wallet (RFC 6749, section 4.4). */
export interface WalletPrograms {
  /**
   * Gives an access token of the wallet's own app at a resource. All its programs share the app, so that a later token
   * reads the runs of an earlier one. The first login connects it.
   *
   * @throws OAuthError `invalid_scope`; ApiError for a wallet with too many keys
   */
  logIn(login: ProgramLogin): Promise<IssuedAccess>;
}

/** Makes the login. */
export function createWalletPrograms(db: Db): WalletPrograms {
  return {
    async logIn({ wallet, scope, resource, boundTo }) {
      const scopes = scopesOf(scope);
      return db.transaction().execute(async (tx) => {
        await lockKeysOf(tx, wallet);
        const id = (await ownApp(tx, wallet, resource)) ?? (await connect(tx, wallet, resource));
        const app = { api_key_id: id, client_digest: hash('sha256', wallet, 'buffer') };
        return issueAccessToken(tx, app, { secret: randomBytes(32).toString('base64url'), scopes, boundTo });
      });
    },
  };
}

/** The scopes of a request; without any, all of an app. */
function scopesOf(scope: string | undefined): AppScope[] {
  const asked = scope?.split(' ').filter((name) => name !== '') ?? [];
  if (asked.some((name) => !APP_SCOPES.some((one) => one === name))) {
    throw new OAuthError('invalid_scope', `The scopes are ${APP_SCOPES.join(' and ')}.`);
  }
  return APP_SCOPES.filter((name) => asked.length === 0 || asked.includes(name));
}

async function ownApp(tx: Db, wallet: string, resource: string): Promise<string | undefined> {
  const found = await tx
    .selectFrom('api_keys')
    .select('id')
    .where('wallet', '=', wallet)
    .where('revoked_at', 'is', null)
    .where('expires_at', '>', sql<Date>`now()`)
    .where(sql<boolean>`app ->> 'client' = wallet and app ->> 'resource' = ${resource}`)
    .executeTakeFirst();
  return found?.id;
}

async function connect(tx: Db, wallet: string, resource: string): Promise<string> {
  await requireRoomForKey(tx, wallet);
  const { id } = await tx
    .insertInto('api_keys')
    .values({
      id: randomUUID(),
      wallet,
      label: LABEL,
      digest: null,
      scopes: [...APP_SCOPES],
      // A policy would bind no program: the key of the wallet could sign any other.
      policy: null,
      app: JSON.stringify({ client: wallet, redirect_host: PLACE, resource }),
      expires_at: sql<Date>`now()`,
      revoked_at: null,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  return id;
}
