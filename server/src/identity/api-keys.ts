import { hash, randomBytes, randomUUID } from 'node:crypto';
import {
  REFUSAL_TEXT,
  API_KEY_PREFIX,
  API_KEY_SCOPES,
  DEFAULT_API_KEY_SCOPES,
  type ApiKey,
  type ApiKeyTerms,
} from '@agent-rental/contract';
import { CompiledQuery, sql, type Selectable } from 'kysely';
import { ApiError } from '../errors/api-error.js';
import type { Db } from '../database/connection.js';
import { prepare } from '../database/prepared-statements.js';
import type { Database } from '../database/schema.js';
import type { Principal } from '../access/principal.js';

const KEY_BYTES = 32;
/** Working keys and connected apps of one wallet at most: a wallet that makes more has lost track of them. */
const MOST_KEYS = 100;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

type FoundKey = Pick<Selectable<Database['api_keys']>, 'id' | 'wallet' | 'scopes' | 'policy' | 'revoked_at'>;
const FIND_KEY = prepare('select id, wallet, scopes, policy, revoked_at from api_keys where digest = $1');

/** API keys: tied to a wallet, without expiry, stored as hashes. */
export interface ApiKeys {
  /** Makes a key. @throws ApiError `invalid_request` for a wallet that has too many. */
  create(wallet: string, terms: ApiKeyTerms): Promise<ApiKey & { key: string }>;
  /** The wallet's keys and connected apps that work, newest first. */
  list(wallet: string): Promise<ApiKey[]>;
  /**
   * Ends a key, or disconnects an app, from the next request on and on every replica; ending it again changes nothing.
   *
   * @throws ApiError `not_found` for a key that does not exist or is another wallet's.
   */
  revoke(wallet: string, id: string): Promise<ApiKey>;
  /**
   * The wallet of a key, and the scopes and limits of the key.
   *
   * @throws ApiError `invalid_api_key` for a key that is unknown, revoked, or of another network.
   */
  verify(key: string): Promise<{ wallet: string } & NonNullable<Principal['apiKey']>>;
}

/** Whether a bearer has the form of an API key of any network. */
export function looksLikeApiKey(bearer: string): boolean {
  return Object.values(API_KEY_PREFIX).some((prefix) => bearer.startsWith(prefix));
}

/** Makes the store of API keys for one network. */
export function createApiKeys(db: Db, network: 'localnet' | 'devnet' | 'mainnet'): ApiKeys {
  const prefix = network === 'mainnet' ? API_KEY_PREFIX.mainnet : API_KEY_PREFIX.devnet;
  const digestOf = (key: string) => hash('sha256', key, 'buffer');
  return {
    async create(wallet, { label, scopes = DEFAULT_API_KEY_SCOPES, policy }) {
      const key = prefix + randomBytes(KEY_BYTES).toString('base64url');
      const row = await db.transaction().execute(async (tx) => {
        await requireRoomForKey(tx, wallet);
        return tx
          .insertInto('api_keys')
          .values({
            id: randomUUID(),
            wallet,
            label,
            digest: digestOf(key),
            scopes: API_KEY_SCOPES.filter((scope) => scopes.includes(scope)),
            policy: policy === undefined ? null : JSON.stringify(policy),
            revoked_at: null,
          })
          .returningAll()
          .executeTakeFirstOrThrow();
      });
      return { ...toApiKey(row), key };
    },

    async list(wallet) {
      const rows = await db
        .selectFrom('api_keys')
        .selectAll()
        .where('wallet', '=', wallet)
        .where('revoked_at', 'is', null)
        .where(LASTS)
        .orderBy('created_at', 'desc')
        .orderBy('id')
        .execute();
      return rows.map(toApiKey);
    },

    async revoke(wallet, id) {
      const row = UUID.test(id)
        ? await db
            .updateTable('api_keys')
            .set({ revoked_at: sql`coalesce(revoked_at, now())` })
            .where('id', '=', id)
            .where('wallet', '=', wallet)
            .returningAll()
            .executeTakeFirst()
        : undefined;
      if (!row) throw new ApiError('not_found', 'The wallet has no such API key.');
      return toApiKey(row);
    },

    async verify(key) {
      if (!key.startsWith(prefix)) {
        throw new ApiError(
          'invalid_api_key',
          `This API key is for another network; keys here begin with ${prefix}.`,
        );
      }
      // Found by its hash: no secret is compared byte by byte. Read every time: a revoked key ends at once.
      const { rows } = await db.executeQuery<FoundKey>(CompiledQuery.raw(FIND_KEY, [digestOf(key)]));
      const [row] = rows;
      if (!row || row.revoked_at) throw new ApiError('invalid_api_key', REFUSAL_TEXT.invalidApiKey);
      return { wallet: row.wallet, id: row.id, scopes: row.scopes, policy: row.policy };
    },
  };
}

/** Keys last until they are revoked; apps end when they are not used. */
const LASTS = sql<boolean>`(expires_at is null or expires_at > now())`;

/** Makes keys and apps of a wallet one at a time, until the transaction ends: two could both be the last. */
export async function lockKeysOf(tx: Db, wallet: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`api-keys:${wallet}`}, 0))`.execute(tx);
}

/**
 * Makes sure that the wallet may have one more key or app, until the transaction ends.
 *
 * @throws ApiError `invalid_request`
 */
export async function requireRoomForKey(tx: Db, wallet: string): Promise<void> {
  await lockKeysOf(tx, wallet);
  const { count } = await tx
    .selectFrom('api_keys')
    .select((eb) => eb.fn.countAll<bigint>().as('count'))
    .where('wallet', '=', wallet)
    .where('revoked_at', 'is', null)
    .where(LASTS)
    .executeTakeFirstOrThrow();
  if (count < MOST_KEYS) return;
  throw new ApiError('invalid_request', `The wallet has ${MOST_KEYS} API keys and connected apps.`, {
    next: 'Revoke one with DELETE /v1/api-keys/:key_id first.',
  });
}

function toApiKey(row: Selectable<Database['api_keys']>): ApiKey {
  return {
    id: row.id,
    label: row.label,
    scopes: row.scopes,
    policy: row.policy,
    created_at: row.created_at.toISOString(),
    revoked_at: row.revoked_at?.toISOString() ?? null,
    ...(row.app === null || row.expires_at === null
      ? {}
      : {
          app: {
            client: row.app.client,
            redirect_host: row.app.redirect_host,
            expires_at: row.expires_at.toISOString(),
          },
        }),
  };
}
