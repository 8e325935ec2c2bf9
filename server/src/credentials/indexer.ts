import {
  accountName,
  decodeAccessCredential,
  decodeListing,
  decodePerQueryBalance,
  findAccessCredentialAddress,
  findListingAddress,
  findPerQueryBalanceAddress,
} from '@agent-rental/program-client';
import type { AccountInfo, PublicKey } from '@solana/web3.js';
import type { Chain } from '../chain/index.js';
import type { Logger } from '../platform/logger.js';
import type { CredentialRepository } from './repository.js';

const WINDOW_BYTES = 32;
/** Accounts read by one call to the chain. */
const ACCOUNTS_PER_READ = 100;
const SIGNATURES_PER_PAGE = 1000;

/** Keeps the index of chain state up to date. */
export interface Indexer {
  /** Follows the program's transactions from now on; `stop` ends after the present round. */
  start(): { stop(): Promise<void> };
  /** Brings the index up to the chain as it is now. */
  catchUp(): Promise<void>;
  /** Seconds since the index was last level with the chain; undefined before it ever was. */
  ageSeconds(): number | undefined;
  /** Indexes what one confirmed transaction wrote, at once. */
  indexTransaction(signature: string): Promise<void>;
  /** Reads accounts again and indexes them. */
  indexAccounts(addresses: PublicKey[]): Promise<void>;
}

/**
 * Makes the indexer. A transaction only tells which accounts to look at: what is stored comes from the
 * accounts themselves, checked for owner and address, because anyone can log our bytes or imitate our layout.
 */
export function createIndexer(
  chain: Chain,
  repository: CredentialRepository,
  logger: Logger,
  pollMs: number,
): Indexer {
  const programId = chain.programId.toBase58();
  let levelAt: number | undefined;

  const indexAccounts = async (addresses: PublicKey[]): Promise<void> => {
    for (let start = 0; start < addresses.length; start += ACCOUNTS_PER_READ) {
      const batch = addresses.slice(start, start + ACCOUNTS_PER_READ);
      const { slot, accounts } = await chain.getAccounts(batch);
      for (const [index, address] of batch.entries()) {
        const account = accounts[index];
        if (account?.owner.equals(chain.programId)) await indexAccount(address, account, slot);
      }
    }
  };

  const indexAccount = async (
    address: PublicKey,
    { data }: AccountInfo<Buffer>,
    slot: bigint,
  ): Promise<void> => {
    switch (accountName(data)) {
      case 'Listing': {
        const listing = decodeListing(data);
        if (!findListingAddress(listing.listingId, chain.programId).address.equals(address)) return;
        return repository.updateListing(listing.listingId, {
          rental_model: listing.rentalModel,
          status: listing.status,
          price_lamports: listing.priceLamports,
          min_deposit_lamports: listing.minDepositLamports,
          metadata_uri: listing.metadataUri,
          created_at: dateOf(listing.createdAt),
          slot,
        });
      }
      case 'AccessCredential': {
        const credential = decodeAccessCredential(data);
        const { buyer, listing } = credential;
        if (!findAccessCredentialAddress(buyer, listing, chain.programId).address.equals(address)) return;
        return repository.upsertCredential({
          address: address.toBase58(),
          buyer: buyer.toBase58(),
          listing_address: listing.toBase58(),
          rental_model: credential.rentalModel,
          valid: credential.valid,
          purchased_at: dateOf(credential.purchasedAt),
          expires_at: credential.expiresAt === null ? null : dateOf(credential.expiresAt),
          slot,
        });
      }
      case 'PerQueryBalance': {
        const balance = decodePerQueryBalance(data);
        const { buyer, listing } = balance;
        if (!findPerQueryBalanceAddress(buyer, listing, chain.programId).address.equals(address)) return;
        return repository.upsertBalance({
          address: address.toBase58(),
          buyer: buyer.toBase58(),
          listing_address: listing.toBase58(),
          balance_lamports: balance.balanceLamports,
          max_price_lamports: balance.maxPriceLamports,
          highest_sequence: balance.highestSequence,
          window_bits: windowBytes(balance.window),
          slot,
        });
      }
      default:
    }
  };

  const indexSignatures = async (signatures: string[]): Promise<void> => {
    const touched = new Map<string, PublicKey>();
    for (const signature of signatures) {
      for (const key of await chain.writtenAccounts(signature)) touched.set(key.toBase58(), key);
    }
    await indexAccounts([...touched.values()]);
  };

  const catchUp = async (): Promise<void> => {
    const askedAt = performance.now();
    const cursor = await repository.readCursor(programId);
    const found: string[] = [];
    for (let before: string | undefined; ; before = found.at(-1)) {
      const page = await chain.signaturesAfter(cursor, before);
      found.push(...page);
      if (page.length < SIGNATURES_PER_PAGE) break;
    }
    const newest = found[0];
    if (newest !== undefined) {
      await indexSignatures(found);
      // Only now: after a crash in between, the same transactions are read once more.
      await repository.writeCursor(programId, newest);
    }
    levelAt = askedAt;
  };

  return {
    catchUp,
    ageSeconds: () => (levelAt === undefined ? undefined : (performance.now() - levelAt) / 1000),
    indexAccounts,
    indexTransaction: (signature) => indexSignatures([signature]),
    start() {
      const stopping = new AbortController();
      const { signal } = stopping;
      let wake = (): void => undefined;
      const follow = async () => {
        while (!signal.aborted) {
          await catchUp().catch((err: unknown) =>
            logger.warn({ err }, 'the index could not be brought up to date'),
          );
          if (signal.aborted) return;
          await new Promise<void>((resolve) => {
            const timer = setTimeout(resolve, pollMs);
            wake = () => {
              clearTimeout(timer);
              resolve();
            };
          });
        }
      };
      const following = follow();
      return {
        stop: () => {
          stopping.abort();
          wake();
          return following;
        },
      };
    },
  };
}

/** The charge window as stored: 32 bytes, bit `i` of the little-endian number for `highest - i`. */
export function windowBytes(window: bigint): Buffer {
  return Buffer.from(Buffer.from(window.toString(16).padStart(WINDOW_BYTES * 2, '0'), 'hex').toReversed());
}

/** Reads the stored form back. */
export function windowFromBytes(bytes: Buffer): bigint {
  return BigInt(`0x${Buffer.from(bytes.toReversed()).toString('hex') || '0'}`);
}

function dateOf(unixSeconds: bigint): Date {
  return new Date(Number(unixSeconds) * 1000);
}
