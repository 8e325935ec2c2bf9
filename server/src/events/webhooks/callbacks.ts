import type { Db } from '../../database/connection.js';
import { ApiError } from '../../errors/api-error.js';
import type { OutboundHttp } from '../../platform/outbound-http.js';
import { requireCallable } from './webhooks.js';

/** The addresses that hear of one run each. */
export interface Callbacks {
  /** @throws ApiError `invalid_request` for an address that is not called, and where the wallet has nothing to sign with. */
  require(wallet: string, url: string): Promise<void>;
}

export function createCallbacks(db: Db, outbound: Pick<OutboundHttp, 'checkUrl'>): Callbacks {
  return {
    async require(wallet, url) {
      requireCallable(outbound, 'callback_url', url);
      const signing = await db
        .selectFrom('webhooks')
        .select('id')
        .where('wallet', '=', wallet)
        .where('url', 'is', null)
        .executeTakeFirst();
      if (signing) return;
      throw new ApiError('invalid_request', 'callback_url: the wallet has no webhook that signs callbacks.', {
        next: 'Create one with the wallet’s login: POST /v1/webhooks with the body {}.',
      });
    },
  };
}
