import type { Creator, updateCreatorBody } from '@agent-rental/contract';
import type { z } from 'zod';
import { ApiError } from '../errors/api-error.js';
import type { Db } from '../database/connection.js';
import { cleanLine, ELLIPSIS } from '../platform/clean-text.js';

/** The creator as a listing shows it, from the stored name and count. */
export function toCreator(wallet: string, displayName: string | null, listingCount: number): Creator {
  return {
    id: wallet,
    display_name: displayName ?? wallet.slice(0, 4) + ELLIPSIS + wallet.slice(-4),
    listing_count: listingCount,
  };
}

/** The names of creators. */
export interface Creators {
  /**
   * Sets or, with null, removes a wallet's name.
   *
   * @throws ApiError `invalid_request` for a name without a letter or digit.
   */
  update(wallet: string, change: z.output<typeof updateCreatorBody>): Promise<Creator>;
}

export function createCreators(db: Db): Creators {
  return {
    async update(wallet, { display_name }) {
      const name = display_name === null ? null : cleanLine(display_name.normalize('NFC'));
      if (name !== null && !/[\p{L}\p{N}]/u.test(name)) {
        throw new ApiError('invalid_request', 'display_name: holds no letter or digit.');
      }
      const row = await db
        .insertInto('creators')
        .values({ wallet, display_name: name })
        .onConflict((conflict) => conflict.column('wallet').doUpdateSet({ display_name: name }))
        .returning('listing_count')
        .executeTakeFirstOrThrow();
      return toCreator(wallet, name, row.listing_count);
    },
  };
}
