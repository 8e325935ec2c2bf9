import {
  type Credential,
  type CredentialPage,
  type CredentialVerification,
  type listCredentialsQuery,
  type PinnedVersion,
  RENTAL_TERMS,
} from '@agent-rental/contract';
import { PublicKey } from '@solana/web3.js';
import type { z } from 'zod';
import type { Chain } from '../chain/index.js';
import { readListPage } from '../database/list-page.js';
import type { Owner } from '../access/owner.js';
import { ApiError } from '../errors/api-error.js';
import {
  iconPath,
  type IndexedRental,
  type ListingService,
  type Pins,
  type PublishedListing,
  type RentedVersions,
} from '../listings/index.js';
import { readChainAccessState, type ChainAccessState } from './chain-access-state.js';
import type { Indexer } from './indexer.js';
import type { ListedRental, RentalList } from './rental-list.js';
import type { CredentialRepository, RentalRow } from './repository.js';
import { accessStatus, type AccessStatus } from './access-state.js';

/** An address of an account. */
const ADDRESS = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/;

/** A wallet's access by the index. */
export interface IndexedStatus {
  status: AccessStatus;
  /** The highest price of a run that a Per-Task renter has agreed to. */
  agreedPriceLamports: bigint | null;
}

export interface CredentialService {
  /**
   * A page of the rentals of the owner's wallet that it sees, the latest purchase first.
   *
   * @throws ApiError `invalid_request` for a cursor that is none of this list.
   */
  list(owner: Owner, query: z.output<typeof listCredentialsQuery>): Promise<CredentialPage>;
  /**
   * Pins the version that runs of a rental run, or with null runs the latest again.
   *
   * @throws ApiError `listing_not_found`; `credential_not_found` without a rental; `invalid_request` for a version that cannot
   * run.
   */
  pin(owner: Owner, listingId: string, version: number | null): Promise<PinnedVersion>;
  /**
   * Checks a credential in the index and on-chain; the chain decides, and the index learns from it.
   *
   * @throws ApiError `listing_not_found`, or `service_unavailable` when the chain is out of reach.
   */
  verify(wallet: string, listingId: string): Promise<CredentialVerification>;
}

export function createCredentialService(deps: {
  repository: CredentialRepository;
  rentals: RentalList;
  listings: ListingService;
  chain: Chain;
  indexer: Indexer;
  pins: Pins;
  rentedVersions: RentedVersions;
}): CredentialService {
  const { repository, rentals, listings, chain, indexer, pins, rentedVersions } = deps;
  return {
    async pin(owner, listingId, version) {
      const { id, version: latest } = await listings.find(listingId);
      const { listing, rental } = await listings.findFor(owner, id, latest.number);
      const { status } = indexedStatusOf(listing, rental);
      if (status === 'not_found' || status === 'revoked') {
        throw new ApiError('credential_not_found', 'A version is pinned for a rental, and there is none.', {
          next: 'Rent the agent first: POST /v1/transactions.',
        });
      }
      if (version !== null) await listings.find(id, version);
      await pins.set(owner, id, version);
      return {
        listing_id: id,
        scope: owner.apiKeyId === undefined ? 'wallet' : 'api_key',
        pinned_version: (await pins.find(owner, id)) ?? null,
        latest_version: latest.number,
      };
    },
    async list(owner, { status, include, ...page }) {
      const now = new Date();
      const { rows, total, end } = await readListPage(
        {
          name: `credentials ${status ?? 'all'}`,
          isId: (text) => ADDRESS.test(text),
          read: (range) => rentals.page(owner, status, now, range),
          positionOf: (row) => ({ timeUs: row.purchased_at_us, id: row.address }),
          count: (shown) => rentals.count(owner, status, now, shown),
        },
        page,
      );
      const [versions, described] = await Promise.all([
        rentedVersions.of(
          owner,
          rows
            .filter((row) => row.has_earlier_version)
            .map((row) => ({ listingId: row.listing_id, purchasedAt: row.purchased_at })),
        ),
        include === undefined ? undefined : listings.describe(rows.map((row) => row.listing_id)),
      ]);
      const credentials = rows.map((row) => {
        const { pinned, update } = versions.get(row.listing_id) ?? {};
        const listing = described?.get(row.listing_id);
        return {
          ...toCredential(row),
          ...(listing === undefined ? {} : { listing: { ...listing, ...pinned?.listing } }),
          ...(pinned === undefined ? {} : { pinned_version: pinned.version }),
          ...(update === undefined ? {} : { update }),
        };
      });
      return { credentials, total, ...end };
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
  };
}

/**
 * The renter's access by a rental that was read with its listing. It is quick, and turns strangers away before any costly
 * step.
 */
export function indexedStatusOf(listing: PublishedListing, rental: IndexedRental | undefined): IndexedStatus {
  return {
    status: accessStatus({ listing, credential: rental, balance: rental?.balance }, new Date()),
    agreedPriceLamports: rental?.balance?.maxPriceLamports ?? null,
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

function toCredential(row: ListedRental): Credential {
  return {
    listing_id: row.listing_id,
    listing_title: row.listing_title,
    rental_model: row.rental_model,
    status: row.status,
    purchased_at: row.purchased_at.toISOString(),
    expires_at: row.expires_at?.toISOString() ?? null,
    pda_address: row.address,
    ...(row.icon_sha256 === null ? {} : { icon_path: iconPath(row.icon_sha256) }),
    ...(RENTAL_TERMS[row.rental_model].isPrepaid
      ? { balance_lamports: Number(row.balance_lamports ?? 0n) }
      : {}),
  };
}
