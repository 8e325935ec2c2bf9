import { PublicKey } from '@solana/web3.js';
import { sql } from 'kysely';
import type { Chain } from '../../chain/index.js';
import { ApiError } from '../../errors/api-error.js';
import type { Db } from '../../database/connection.js';
import type { ContentStore } from '../../storage/index.js';
import { DRAFT_DAYS } from './creator-limits.js';
import { findOwnListing } from '../own-listing.js';
import type { RegistrationRepository } from '../repository.js';

/** Name and schedule of the job that removes unchanged drafts (daily, on one replica). */
export const LAPSE_TASK = 'remove_lapsed_drafts';
export const LAPSE_CRONTAB = `17 4 * * * ${LAPSE_TASK}`;

/** A co-signed transaction lands within some minutes, or never: its blockhash expires. */
const LANDING_MINUTES = 10;
/** Removed by one round of the job. */
const MOST_AT_ONCE = 1_000;
const ACCOUNTS_PER_READ = 100;

/** Removes agents that were never published, with all that is kept of them. */
export interface DraftRemoval {
  /**
   * Removes a draft of that wallet.
   *
   * @throws ApiError `listing_not_found` for a listing of another wallet; `invalid_request` for one that is or may be
   * on-chain.
   */
  remove(wallet: string, listingId: string): Promise<void>;
  /** The background task: removes the drafts that have neither been changed nor published for {@link DRAFT_DAYS} days. */
  removeLapsed(): Promise<void>;
}

export function createDraftRemoval(deps: {
  db: Db;
  repository: RegistrationRepository;
  store: Pick<ContentStore, 'remove'>;
  chain: Pick<Chain, 'getAccounts'>;
}): DraftRemoval {
  const { db, store, chain } = deps;

  const onChain = async (addresses: string[]): Promise<Set<string>> => {
    const { accounts } = await chain.getAccounts(addresses.map((address) => new PublicKey(address)));
    return new Set(addresses.filter((_, index) => accounts[index] !== null));
  };
  const remove = async (listingId: string): Promise<boolean> => {
    const uris = await db.transaction().execute(async (tx) => {
      // Locked: no transaction that publishes it is co-signed meanwhile. Slot 0: the index has never seen its account.
      const draft = await tx
        .selectFrom('listings')
        .select('id')
        .where('id', '=', listingId)
        .where('status', '=', 'draft')
        .where('slot', '=', 0n)
        .where(mayNotLand)
        .forUpdate()
        .executeTakeFirst();
      if (!draft) return undefined;
      await tx.deleteFrom('registration_jobs').where('listing_id', '=', listingId).execute();
      const versions = await tx
        .deleteFrom('agent_versions')
        .where('listing_id', '=', listingId)
        .returning('metadata_uri')
        .execute();
      await tx.deleteFrom('listings').where('id', '=', listingId).execute();
      return versions.map(({ metadata_uri: uri }) => uri);
    });
    for (const uri of uris ?? []) if (uri !== null) await store.remove(uri);
    return uris !== undefined;
  };

  return {
    async remove(wallet, listingId) {
      const { listing } = await findOwnListing(deps.repository, wallet, listingId);
      const isOnChain =
        listing.status !== 'draft' || listing.slot > 0n || (await onChain([listing.address])).size > 0;
      if (isOnChain) {
        throw new ApiError('invalid_request', 'The agent is published.', {
          next: 'POST /v1/transactions {"action": "close", ...} takes it off the market for ever.',
        });
      }
      if (await remove(listingId)) return;
      throw new ApiError(
        'invalid_request',
        'A transaction that publishes this agent was made a moment ago and may still land.',
        { next: `Try again after ${LANDING_MINUTES} minutes.` },
      );
    },

    async removeLapsed() {
      const lapsed = await db
        .selectFrom('listings')
        .select(['id', 'address'])
        .where('status', '=', 'draft')
        .where('slot', '=', 0n)
        .where('updated_at', '<', sql<Date>`now() - make_interval(days => ${DRAFT_DAYS})`)
        .where(mayNotLand)
        .orderBy('updated_at')
        .limit(MOST_AT_ONCE)
        .execute();
      for (let start = 0; start < lapsed.length; start += ACCOUNTS_PER_READ) {
        const batch = lapsed.slice(start, start + ACCOUNTS_PER_READ);
        const published = await onChain(batch.map(({ address }) => address));
        for (const { id, address } of batch) if (!published.has(address)) await remove(id);
      }
    },
  };
}

const mayNotLand = sql<boolean>`(publication_proposed_at is null
  or publication_proposed_at < now() - make_interval(mins => ${LANDING_MINUTES}))`;
