import {
  type Credential,
  type CredentialPage,
  type CredentialVerification,
  type listCredentialsQuery,
  RENTAL_TERMS,
} from '@agent-rental/contract';
import { PublicKey } from '@solana/web3.js';
import type { z } from 'zod';
import type { Chain } from '../chain/index.js';
import { readListPage } from '../http/list-page.js';
import type { ListingService } from '../listings/index.js';
import { readChainAccessState, type ChainAccessState } from './chain-access-state.js';
import type { Indexer } from './indexer.js';
import type { ListedRental, RentalList } from './rental-list.js';
import type { CredentialRepository, RentalRow } from './repository.js';
import { accessStatus, type AccessStatus } from './access-state.js';

/** An address of an account. */
const ADDRESS = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/;

/** What the index says of a wallet's access. */
export interface IndexedStatus {
  status: AccessStatus;
  /** The highest price of a run that a Per-Task renter has agreed to. */
  agreedPriceLamports: bigint | null;
}

export interface CredentialService {
  /**
   * A page of a wallet's rentals, the latest purchase first.
   *
   * @throws ApiError `invalid_request` for a cursor that is none of this list.
   */
  list(wallet: string, query: z.output<typeof listCredentialsQuery>): Promise<CredentialPage>;
  /**
   * Checks a credential in the index and on-chain; the chain decides, and the index learns from it.
   *
   * @throws ApiError `listing_not_found`, or `service_unavailable` when the chain is out of reach.
   */
  verify(wallet: string, listingId: string): Promise<CredentialVerification>;
  /** Status by the index alone: quick, for turning strangers away before anything costs something. */
  indexedStatus(wallet: string, listingId: string): Promise<IndexedStatus>;
}

export function createCredentialService(deps: {
  repository: CredentialRepository;
  rentals: RentalList;
  listings: ListingService;
  chain: Chain;
  indexer: Indexer;
}): CredentialService {
  const { repository, rentals, listings, chain, indexer } = deps;
  return {
    async list(wallet, { status, include, ...page }) {
      const now = new Date();
      const { rows, total, end } = await readListPage(
        {
          name: `credentials ${status ?? 'all'}`,
          isId: (text) => ADDRESS.test(text),
          read: (range) => rentals.page(wallet, status, now, range),
          positionOf: (row) => ({ timeUs: row.purchased_at_us, id: row.address }),
          count: () => rentals.count(wallet, status, now),
        },
        page,
      );
      const credentials = rows.map(toCredential);
      if (include === undefined) return { credentials, total, ...end };
      const described = await listings.describe(credentials.map(({ listing_id }) => listing_id));
      const withListings = credentials.map((credential) => {
        const listing = described.get(credential.listing_id);
        return listing === undefined ? credential : { ...credential, listing };
      });
      return { credentials: withListings, total, ...end };
    },

    async verify(wallet, listingId) {
      const listing = await listings.find(listingId);
      const [indexed, onChain] = await Promise.all([
        repository.findRental(wallet, listing.id),
        readChainAccessState(chain, listing.id, wallet),
      ]);
      if (onChain && differs(indexed, onChain)) {
        await indexer.indexAccounts([
          new PublicKey(onChain.credentialAddress),
          new PublicKey(onChain.balanceAddress),
        ]);
      }
      if (!onChain?.credential) {
        return { listing_id: listing.id, status: 'not_found', valid: false, on_chain_verified: false };
      }
      const status = accessStatus(onChain, new Date());
      const { rentalModel, expiresAt } = onChain.credential;
      return {
        listing_id: listing.id,
        rental_model: rentalModel,
        // Its account stays for ever, as a tombstone.
        status: status === 'revoked' ? 'not_found' : status,
        valid: status === 'active',
        pda_address: onChain.credentialAddress,
        on_chain_verified: true,
        ...(status === 'expired' && expiresAt ? { expired_at: expiresAt.toISOString() } : {}),
        ...(onChain.balance ? { balance_lamports: Number(onChain.balance.balanceLamports) } : {}),
      };
    },

    async indexedStatus(wallet, listingId) {
      const row = await repository.findRental(wallet, listingId);
      return row
        ? { status: statusOf(row, new Date()), agreedPriceLamports: row.max_price_lamports }
        : { status: 'not_found', agreedPriceLamports: null };
    },
  };
}

/** Whether the index has fallen behind the chain. */
function differs(row: RentalRow | undefined, { credential, balance }: ChainAccessState): boolean {
  return (
    row?.valid !== credential?.valid ||
    row?.expires_at?.getTime() !== credential?.expiresAt?.getTime() ||
    (row?.balance_lamports ?? undefined) !== balance?.balanceLamports ||
    (row?.max_price_lamports ?? undefined) !== balance?.maxPriceLamports
  );
}

function statusOf(row: RentalRow, now: Date): AccessStatus {
  const { listing_status: status, price_lamports: priceLamports } = row;
  if (status === 'draft' || priceLamports === null) return 'not_found';
  return accessStatus(
    {
      listing: { status, priceLamports },
      credential: { valid: row.valid, rentalModel: row.rental_model, expiresAt: row.expires_at },
      balance:
        row.balance_lamports === null || row.max_price_lamports === null
          ? undefined
          : { balanceLamports: row.balance_lamports, maxPriceLamports: row.max_price_lamports },
    },
    now,
  );
}

function toCredential(row: ListedRental): Credential {
  return {
    listing_id: row.listing_id,
    listing_title: row.listing_title,
    rental_model: row.rental_model,
    status: row.status,
    purchased_at: row.purchased_at.toISOString(),
    expires_at: row.expires_at?.toISOString() ?? null,
    pda_address: row.address,
    ...(RENTAL_TERMS[row.rental_model].isPrepaid
      ? { balance_lamports: Number(row.balance_lamports ?? 0n) }
      : {}),
  };
}
