import { PublicKey } from '@solana/web3.js';
import { MARKETPLACE_PROGRAM_ID } from '../program-id.js';

/** A program-derived address with its canonical bump, the only one at which the program creates accounts. */
export interface DerivedAddress {
  address: PublicKey;
  bump: number;
}

/** The loader that owns upgradeable programs and their ProgramData accounts. */
export const UPGRADEABLE_LOADER_ID: PublicKey = new PublicKey('BPFLoaderUpgradeab1e11111111111111111111111');

/** The longest listing id in UTF-8 bytes: it is a seed, and a seed has at most 32. */
export const MAX_LISTING_ID_BYTES = 32;

const utf8 = new TextEncoder();

/** Addresses that were derived last: finding a bump tries points of a curve, which takes half a millisecond and more. */
const derived = new Map<string, DerivedAddress>();
const MOST_REMEMBERED = 10_000;

function derive(seeds: Uint8Array[], programId: PublicKey): DerivedAddress {
  const key = [programId.toBytes(), ...seeds].map((seed) => toHex(seed)).join(' ');
  const known = derived.get(key);
  if (known) {
    // The cache drops the address that was used longest ago.
    derived.delete(key);
    derived.set(key, known);
    return known;
  }
  const [address, bump] = PublicKey.findProgramAddressSync(seeds, programId);
  const found = Object.freeze({ address, bump });
  derived.set(key, found);
  if (derived.size > MOST_REMEMBERED) derived.delete(derived.keys().next().value ?? '');
  return found;
}

function toHex(bytes: Uint8Array): string {
  let text = '';
  for (const byte of bytes) text += byte.toString(16).padStart(2, '0');
  return text;
}

/** Address of the one `Protocol` account: `["protocol"]`. */
export function findProtocolAddress(programId: PublicKey = MARKETPLACE_PROGRAM_ID): DerivedAddress {
  return derive([utf8.encode('protocol')], programId);
}

/**
 * Address of a listing: `["listing", listing_id]`.
 *
 * @param listingId the API's listing id, 1 to 32 UTF-8 bytes
 * @throws RangeError when the id is empty or longer than a seed may be
 */
export function findListingAddress(
  listingId: string,
  programId: PublicKey = MARKETPLACE_PROGRAM_ID,
): DerivedAddress {
  const seed = utf8.encode(listingId);
  if (seed.length < 1 || seed.length > MAX_LISTING_ID_BYTES) {
    throw new RangeError(`A listing id has 1 to ${MAX_LISTING_ID_BYTES} bytes, this one has ${seed.length}.`);
  }
  return derive([utf8.encode('listing'), seed], programId);
}

/** Address of the account that holds a listing's earnings: `["escrow", listing]`. */
export function findEscrowAddress(
  listing: PublicKey,
  programId: PublicKey = MARKETPLACE_PROGRAM_ID,
): DerivedAddress {
  return derive([utf8.encode('escrow'), listing.toBytes()], programId);
}

/** Address of a renter's credential: `["access_credential", buyer, listing]`, the API's `pda_address`. */
export function findAccessCredentialAddress(
  buyer: PublicKey,
  listing: PublicKey,
  programId: PublicKey = MARKETPLACE_PROGRAM_ID,
): DerivedAddress {
  return derive([utf8.encode('access_credential'), buyer.toBytes(), listing.toBytes()], programId);
}

/** Address of a renter's prepaid balance: `["per_query_balance", buyer, listing]`. */
export function findPerQueryBalanceAddress(
  buyer: PublicKey,
  listing: PublicKey,
  programId: PublicKey = MARKETPLACE_PROGRAM_ID,
): DerivedAddress {
  return derive([utf8.encode('per_query_balance'), buyer.toBytes(), listing.toBytes()], programId);
}

/** Address of the loader's account that names the program's upgrade authority. */
export function findProgramDataAddress(programId: PublicKey = MARKETPLACE_PROGRAM_ID): DerivedAddress {
  return derive([programId.toBytes()], UPGRADEABLE_LOADER_ID);
}

/**
 * The address that every transaction of the run log names, so that `getSignaturesForAddress` lists them: `["run_log"]`.
 * There is no account at it, and a transaction that names it is of the log only if the protocol's authority signed it.
 */
export function findRunLogAddress(programId: PublicKey = MARKETPLACE_PROGRAM_ID): DerivedAddress {
  return derive([utf8.encode('run_log')], programId);
}
