import { PublicKey } from '@solana/web3.js';
import { AccountDecodeError } from './account-decode-error.js';
import { BorshReader, hasDiscriminator, typeDef, type BorshValue } from '../decoding/borsh.js';
import { MARKETPLACE_IDL } from '../idl.js';
import type { PauseHistory } from './pause-history.js';
import type { ListingStatus, RentalModel } from '../rental-model.js';

/** The layout version that this client reads; it is the byte after the discriminator. */
export const ACCOUNT_VERSION = 1;

/** The names of the program's account types. */
export type AccountName = 'Protocol' | 'Listing' | 'Escrow' | 'AccessCredential' | 'PerQueryBalance';

/** The protocol's configuration; one per program. */
export interface Protocol {
  version: number;
  bump: number;
  /** Updates the protocol, revokes access. */
  admin: PublicKey;
  /** Who may accept the admin role; null when no hand-over is open. */
  pendingAdmin: PublicKey | null;
  /** The hot key: charges runs and co-signs new listings. */
  authority: PublicKey;
  /** Accepted beside `authority` while keys rotate; null when none. */
  nextAuthority: PublicKey | null;
  /** Receives the fees. */
  treasury: PublicKey;
  /** The fee in basis points, taken out of the price. */
  feeBps: number;
  /** The floor of a Per-Task price, in lamports. */
  minQueryPriceLamports: bigint;
  /** True while purchases, renewals, top-ups and new listings are refused. */
  paused: boolean;
}

/** An agent on offer. It is never deleted: a closed one stays as a tombstone. */
export interface Listing {
  version: number;
  bump: number;
  creator: PublicKey;
  rentalModel: RentalModel;
  status: ListingStatus;
  /** One-Time: paid once. Subscription: per 30 days. Per-Task: per run. In lamports. */
  priceLamports: bigint;
  /** Per-Task: the least first deposit, in lamports; 0 for the other models. */
  minDepositLamports: bigint;
  /** Since when it has been paused or suspended, Unix seconds; null while it is neither. */
  pausedAt: bigint | null;
  /** The end of the longest-running subscription ever sold, Unix seconds; 0 before the first. */
  latestSubscriptionExpiry: bigint;
  /** Counts the updates, from 0. */
  revision: bigint;
  /** Unix seconds. */
  createdAt: bigint;
  /** Unix seconds. */
  updatedAt: bigint;
  /** The price before the last change, in lamports; runs admitted at it are charged at it for 15 minutes. */
  previousPriceLamports: bigint | null;
  /** When the price last changed, Unix seconds; null when it never has. */
  priceChangedAt: bigint | null;
  /** The ended pauses, as far as they count towards a reclaim. */
  pauseHistory: PauseHistory;
  listingId: string;
  metadataUri: string;
}

/** A listing's earnings. */
export interface Escrow {
  version: number;
  bump: number;
  listing: PublicKey;
  /** Not withdrawn yet, in lamports. */
  earningsLamports: bigint;
  /** Ever earned, in lamports. */
  totalEarnedLamports: bigint;
}

/** A renter's credential. A revoked one stays as a tombstone. */
export interface AccessCredential {
  version: number;
  bump: number;
  buyer: PublicKey;
  listing: PublicKey;
  rentalModel: RentalModel;
  /** False once revoked. Expiry and an empty balance do not change it. */
  valid: boolean;
  /** Unix seconds. */
  purchasedAt: bigint;
  /** Subscription: the end, Unix seconds; null for the other models. */
  expiresAt: bigint | null;
}

/** A renter's prepaid Per-Task balance. */
export interface PerQueryBalance {
  version: number;
  bump: number;
  buyer: PublicKey;
  listing: PublicKey;
  /** The spendable balance, in lamports. */
  balanceLamports: bigint;
  /** The highest price per run that the renter agreed to, in lamports. */
  maxPriceLamports: bigint;
  /** Ever deposited, in lamports. */
  totalDepositedLamports: bigint;
  /** Ever spent, in lamports. */
  totalSpentLamports: bigint;
  /** The highest sequence that was charged; 0 also before the first charge. */
  highestSequence: bigint;
  /** 256 bits: bit i is set when sequence `highestSequence - i` was charged. */
  window: bigint;
}

function fieldSize(type: unknown): number {
  const sizes: Record<string, number> = { bool: 1, u8: 1, u16: 2, u32: 4, u64: 8, i64: 8, pubkey: 32 };
  if (typeof type === 'string') {
    return sizes[type] ?? Number.NaN;
  }
  if (typeof type === 'object' && type !== null && 'array' in type && Array.isArray(type.array)) {
    return fieldSize(type.array[0]) * Number(type.array[1]);
  }
  return 1;
}

const DISCRIMINATOR_BYTES = 8;

/** Offsets of the fields before the first string; from there on they vary. */
function fixedOffsets(name: AccountName): Record<string, number> {
  const offsets: Record<string, number> = {};
  const def = typeDef(name).type;
  let offset = DISCRIMINATOR_BYTES;
  for (const field of def.kind === 'struct' ? def.fields : []) {
    offsets[field.name] = offset;
    offset += fieldSize(field.type);
    if (Number.isNaN(offset)) {
      break;
    }
  }
  return offsets;
}

function offsetsOf<Field extends string>(
  name: AccountName,
  fields: Record<Field, string>,
): Record<Field, number> {
  const offsets = fixedOffsets(name);
  const named = Object.entries<string>(fields).map(([field, idlName]) => {
    const offset = offsets[idlName];
    if (offset === undefined) {
      throw new Error(`${name}.${idlName} has no fixed offset.`);
    }
    return [field, offset] as const;
  });
  return Object.fromEntries(named) as Record<Field, number>;
}

function discriminatorOf(name: AccountName): Uint8Array {
  const account = MARKETPLACE_IDL.accounts.find((candidate) => candidate.name === name);
  if (account === undefined) {
    throw new Error(`The IDL has no account ${name}.`);
  }
  return Uint8Array.from(account.discriminator);
}

function sizeOf(constant: string): number {
  const found = MARKETPLACE_IDL.constants.find((candidate) => candidate.name === constant);
  if (found === undefined) {
    throw new Error(`The IDL has no constant ${constant}.`);
  }
  return Number(found.value);
}

/** The first eight bytes of each account type, for `memcmp` at offset 0. */
export const ACCOUNT_DISCRIMINATORS: Readonly<Record<AccountName, Uint8Array>> = {
  Protocol: discriminatorOf('Protocol'),
  Listing: discriminatorOf('Listing'),
  Escrow: discriminatorOf('Escrow'),
  AccessCredential: discriminatorOf('AccessCredential'),
  PerQueryBalance: discriminatorOf('PerQueryBalance'),
};

/** The size of each account in bytes; all accounts of a type have the same, so rent is known before creation. */
export const ACCOUNT_SIZES: Readonly<Record<AccountName, number>> = {
  Protocol: sizeOf('PROTOCOL_SIZE'),
  Listing: sizeOf('LISTING_SIZE'),
  Escrow: sizeOf('ESCROW_SIZE'),
  AccessCredential: sizeOf('ACCESS_CREDENTIAL_SIZE'),
  PerQueryBalance: sizeOf('PER_QUERY_BALANCE_SIZE'),
};

/** Byte offsets of a listing's searchable fields, for `memcmp`. */
export const LISTING_OFFSETS = offsetsOf('Listing', {
  creator: 'creator',
  rentalModel: 'rental_model',
  status: 'status',
  listingId: 'listing_id',
});

/** Byte offsets of an escrow's searchable fields, for `memcmp`. */
export const ESCROW_OFFSETS = offsetsOf('Escrow', { listing: 'listing' });

/** Byte offsets of a credential's searchable fields, for `memcmp`. */
export const ACCESS_CREDENTIAL_OFFSETS = offsetsOf('AccessCredential', {
  buyer: 'buyer',
  listing: 'listing',
  rentalModel: 'rental_model',
  valid: 'valid',
  expiresAt: 'expires_at',
});

/** Byte offsets of a balance's searchable fields, for `memcmp`. */
export const PER_QUERY_BALANCE_OFFSETS = offsetsOf('PerQueryBalance', { buyer: 'buyer', listing: 'listing' });

/** The account type by the first eight bytes, or null. The caller checks the account's owner. */
export function accountName(data: Uint8Array): AccountName | null {
  const names: AccountName[] = ['Protocol', 'Listing', 'Escrow', 'AccessCredential', 'PerQueryBalance'];
  return names.find((name) => hasDiscriminator(data, [...ACCOUNT_DISCRIMINATORS[name]])) ?? null;
}

function decodeFields(name: AccountName, data: Uint8Array): Record<string, BorshValue> {
  if (data.length < ACCOUNT_SIZES[name]) {
    throw new AccountDecodeError(name, 'too_short', `${data.length} bytes of ${ACCOUNT_SIZES[name]}.`);
  }
  if (!hasDiscriminator(data, [...ACCOUNT_DISCRIMINATORS[name]])) {
    throw new AccountDecodeError(name, 'wrong_discriminator', 'another discriminator.');
  }
  if (data[DISCRIMINATOR_BYTES] !== ACCOUNT_VERSION) {
    throw new AccountDecodeError(name, 'unsupported_version', `layout version ${data[DISCRIMINATOR_BYTES]}.`);
  }
  const def = typeDef(name).type;
  try {
    const fields = new BorshReader(data, DISCRIMINATOR_BYTES).readFields(
      def.kind === 'struct' ? def.fields : [],
    );
    delete fields['reserved'];
    return fields;
  } catch (error) {
    throw new AccountDecodeError(name, 'malformed', error instanceof Error ? error.message : 'unreadable.');
  }
}

function keyOrNull(value: BorshValue | undefined): PublicKey | null {
  return value instanceof PublicKey && !value.equals(PublicKey.default) ? value : null;
}

function timeOrNull(value: BorshValue | undefined): bigint | null {
  return typeof value === 'bigint' && value !== 0n ? value : null;
}

/**
 * Decodes a `Protocol` account.
 *
 * The caller checks the owner: anyone can write these bytes into an account of another program.
 * @throws AccountDecodeError when the bytes are not one
 */
export function decodeProtocol(data: Uint8Array): Protocol {
  const fields = decodeFields('Protocol', data);
  return {
    ...(fields as unknown as Protocol),
    pendingAdmin: keyOrNull(fields['pendingAdmin']),
    nextAuthority: keyOrNull(fields['nextAuthority']),
  };
}

/** A listing's fields under the IDL's names, where the client has other ones. */
type ListingFields = Omit<
  Listing,
  'pauseHistory' | 'previousPriceLamports' | 'priceChangedAt' | 'pausedAt'
> & {
  previousPriceLamports: bigint;
  priceChangedAt: bigint;
  pausedAt: bigint;
  pauseUnits: bigint;
  pauseLatest: number;
  pauseRemainder: number;
};

/**
 * Decodes a `Listing` account. The caller checks the owner.
 *
 * @throws AccountDecodeError when the bytes are not one
 */
export function decodeListing(data: Uint8Array): Listing {
  const fields = decodeFields('Listing', data);
  const { previousPriceLamports, priceChangedAt, pauseUnits, pauseLatest, pauseRemainder, ...rest } =
    fields as unknown as ListingFields;
  const changedAt = timeOrNull(priceChangedAt);
  return {
    ...rest,
    pausedAt: timeOrNull(rest.pausedAt),
    previousPriceLamports: changedAt === null ? null : previousPriceLamports,
    priceChangedAt: changedAt,
    pauseHistory: { units: pauseUnits, latest: pauseLatest, remainderSeconds: pauseRemainder },
  };
}

/**
 * Decodes an `Escrow` account. The caller checks the owner.
 *
 * @throws AccountDecodeError when the bytes are not one
 */
export function decodeEscrow(data: Uint8Array): Escrow {
  return decodeFields('Escrow', data) as unknown as Escrow;
}

/**
 * Decodes an `AccessCredential` account. The caller checks the owner.
 *
 * @throws AccountDecodeError when the bytes are not one
 */
export function decodeAccessCredential(data: Uint8Array): AccessCredential {
  const fields = decodeFields('AccessCredential', data);
  return { ...(fields as unknown as AccessCredential), expiresAt: timeOrNull(fields['expiresAt']) };
}

/**
 * Decodes a `PerQueryBalance` account. The caller checks the owner.
 *
 * @throws AccountDecodeError when the bytes are not one
 */
export function decodePerQueryBalance(data: Uint8Array): PerQueryBalance {
  const fields = decodeFields('PerQueryBalance', data);
  const words = fields['window'] as bigint[];
  const window = words.reduce((bits, word, index) => bits | (word << BigInt(64 * index)), 0n);
  return { ...(fields as unknown as PerQueryBalance), window };
}
