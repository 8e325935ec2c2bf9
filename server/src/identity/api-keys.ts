import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { API_KEY_PREFIX } from '@agent-rental/contract';
import { ApiError } from '../platform/api-error.js';
import type { Db } from '../platform/database/database.js';

const KEY_BYTES = 32;

/** API keys: tied to a wallet, without expiry, stored as hashes. */
export interface ApiKeys {
  create(
    wallet: string,
    label: string,
  ): Promise<{ id: string; label: string; key: string; created_at: string }>;
  /**
   * The wallet of a key.
   *
   * @throws ApiError `invalid_api_key` for a key that is unknown, revoked, or of another network.
   */
  verify(key: string): Promise<{ wallet: string; id: string }>;
}

/** Whether a bearer has the form of an API key, of whatever network. */
export function looksLikeApiKey(bearer: string): boolean {
  return Object.values(API_KEY_PREFIX).some((prefix) => bearer.startsWith(prefix));
}

/** Makes the store of API keys for one network. */
export function createApiKeys(db: Db, network: 'localnet' | 'devnet' | 'mainnet'): ApiKeys {
  const prefix = network === 'mainnet' ? API_KEY_PREFIX.mainnet : API_KEY_PREFIX.devnet;
  const digestOf = (key: string) => createHash('sha256').update(key).digest();
  return {
    async create(wallet, label) {
      const key = prefix + randomBytes(KEY_BYTES).toString('base64url');
      const row = await db
        .insertInto('api_keys')
        .values({ id: randomUUID(), wallet, label, digest: digestOf(key), revoked_at: null })
        .returning(['id', 'created_at'])
        .executeTakeFirstOrThrow();
      return { id: row.id, label, key, created_at: row.created_at.toISOString() };
    },
    async verify(key) {
      if (!key.startsWith(prefix)) {
        throw new ApiError(
          'invalid_api_key',
          `This API key is for another network; keys here begin with ${prefix}.`,
        );
      }
      // Found by its hash: no secret is compared byte by byte.
      const row = await db
        .selectFrom('api_keys')
        .select(['id', 'wallet', 'revoked_at'])
        .where('digest', '=', digestOf(key))
        .executeTakeFirst();
      if (!row || row.revoked_at)
        throw new ApiError('invalid_api_key', 'The API key is not valid or was revoked.');
      return { wallet: row.wallet, id: row.id };
    },
  };
}
