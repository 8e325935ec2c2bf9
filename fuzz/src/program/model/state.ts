import type { AddressId, Universe } from '../world/universe.js';
import { pauseBits, type PauseMemory } from './pauses.js';
import { discriminator, type StateType } from './instruction-table.js';

/** How a listing is rented, by its tag. */
export const MODEL = { oneTime: 0, subscription: 1, perQuery: 2 } as const;

/** A listing's status, by its tag. */
export const STATUS = { active: 0, paused: 1, closed: 2 } as const;

/** The protocol's configuration. Roles are raw addresses: anything can be named. */
export interface ProtocolState {
  type: 'protocol';
  admin: AddressId;
  pendingAdmin: AddressId;
  authority: AddressId;
  nextAuthority: AddressId;
  treasury: AddressId;
  feeBps: number;
  minQueryPrice: bigint;
  paused: boolean;
}

/** A listing. Times are Unix seconds, amounts lamports. */
export interface ListingState {
  type: 'listing';
  creator: AddressId;
  model: number;
  status: number;
  price: bigint;
  minDeposit: bigint;
  pausedAt: bigint;
  latestExpiry: bigint;
  revision: bigint;
  createdAt: bigint;
  updatedAt: bigint;
  /** The price before the last change, and when that was; 0 before the first. */
  previousPrice: bigint;
  priceChangedAt: bigint;
  pauses: PauseMemory;
  id: string;
  uri: string;
}

/** A listing's earnings. */
export interface EscrowState {
  type: 'escrow';
  listing: AddressId;
  earnings: bigint;
  totalEarned: bigint;
}

/** A renter's credential. */
export interface CredentialState {
  type: 'access_credential';
  buyer: AddressId;
  listing: AddressId;
  model: number;
  valid: boolean;
  purchasedAt: bigint;
  expiresAt: bigint;
}

/** A renter's prepaid balance; the window is a 256-bit number whose bit i is sequence `highest - i`. */
export interface BalanceState {
  type: 'per_query_balance';
  buyer: AddressId;
  listing: AddressId;
  balance: bigint;
  maxPrice: bigint;
  totalDeposited: bigint;
  totalSpent: bigint;
  highest: bigint;
  window: bigint;
}

/** Any of the program's accounts. */
export type ProgramState = ProtocolState | ListingState | EscrowState | CredentialState | BalanceState;

/** Data of an account that the program did not write: bytes, or of the runtime's own accounts a length alone. */
export interface RawData {
  type: 'raw';
  bytes: Buffer;
}

/** An account as the model knows it; lamports of 0 and no data when nothing is there. */
export interface ModelAccount {
  lamports: bigint;
  owner: AddressId;
  data: ProgramState | RawData;
}

/** The data of an account without any. */
export const NO_DATA: RawData = { type: 'raw', bytes: Buffer.alloc(0) };

/** The layout version that the program writes. */
export const ACCOUNT_VERSION = 1;

/** Where the layout version is. */
export const VERSION_AT = 8;

const HEAD = 8 + 1 + 1;
const RESERVED = 32;
/** Of a listing's reserved bytes, those that hold its price history and its pauses. */
const LATER_LISTING_FIELDS = 3 * 8 + 4 + 2;
const ID_ROOM = 32;
const URI_ROOM = 200;

/** The size of each account in bytes. */
export const STATE_SIZES: Readonly<Record<StateType, number>> = {
  protocol: HEAD + 5 * 32 + 2 + 8 + 1 + RESERVED,
  listing: HEAD + 32 + 2 + 7 * 8 + RESERVED + 4 + ID_ROOM + 4 + URI_ROOM,
  escrow: HEAD + 32 + 2 * 8 + RESERVED,
  access_credential: HEAD + 2 * 32 + 2 + 2 * 8 + RESERVED,
  per_query_balance: HEAD + 2 * 32 + 5 * 8 + 32 + RESERVED,
};

/** The first eight bytes of each account type. */
export const STATE_DISCRIMINATORS: Readonly<Record<StateType, Buffer>> = {
  protocol: discriminator('account:Protocol'),
  listing: discriminator('account:Listing'),
  escrow: discriminator('account:Escrow'),
  access_credential: discriminator('account:AccessCredential'),
  per_query_balance: discriminator('account:PerQueryBalance'),
};

/** The length of an account's data. */
export function dataLength(account: ModelAccount): number {
  return account.data.type === 'raw' ? account.data.bytes.length : STATE_SIZES[account.data.type];
}

/** The bytes of an account's data, as they must be on the chain. */
export function encodeAccountData(universe: Universe, address: AddressId, account: ModelAccount): Buffer {
  const { data } = account;
  if (data.type === 'raw') {
    return data.bytes;
  }
  const writer = new Writer(universe, STATE_SIZES[data.type]);
  writer.bytes(STATE_DISCRIMINATORS[data.type]);
  writer.byte(ACCOUNT_VERSION);
  writer.byte(universe.provenance(address)?.bump ?? 0);
  switch (data.type) {
    case 'protocol':
      writer.addresses(data.admin, data.pendingAdmin, data.authority, data.nextAuthority, data.treasury);
      writer.byte(data.feeBps & 0xff);
      writer.byte(data.feeBps >> 8);
      writer.words(data.minQueryPrice);
      writer.byte(data.paused ? 1 : 0);
      break;
    case 'listing':
      writer.addresses(data.creator);
      writer.byte(data.model);
      writer.byte(data.status);
      writer.words(data.price, data.minDeposit, data.pausedAt, data.latestExpiry, data.revision);
      writer.words(data.createdAt, data.updatedAt);
      writer.words(data.previousPrice, data.priceChangedAt, pauseBits(data.pauses));
      writer.short(data.pauses.latest, 4);
      writer.short(data.pauses.remainder, 2);
      writer.skip(RESERVED - LATER_LISTING_FIELDS);
      writer.text(data.id);
      writer.text(data.uri);
      break;
    case 'escrow':
      writer.addresses(data.listing);
      writer.words(data.earnings, data.totalEarned);
      break;
    case 'access_credential':
      writer.addresses(data.buyer, data.listing);
      writer.byte(data.model);
      writer.byte(data.valid ? 1 : 0);
      writer.words(data.purchasedAt, data.expiresAt);
      break;
    case 'per_query_balance':
      writer.addresses(data.buyer, data.listing);
      writer.words(data.balance, data.maxPrice, data.totalDeposited, data.totalSpent, data.highest);
      writer.words(data.window, data.window >> 64n, data.window >> 128n, data.window >> 192n);
      break;
  }
  return writer.out;
}

class Writer {
  readonly out: Buffer;
  readonly #universe: Universe;
  #at = 0;

  constructor(universe: Universe, size: number) {
    this.#universe = universe;
    this.out = Buffer.alloc(size);
  }

  bytes(bytes: Uint8Array): void {
    this.out.set(bytes, this.#at);
    this.#at += bytes.length;
  }

  byte(value: number): void {
    this.out[this.#at] = value;
    this.#at += 1;
  }

  skip(size: number): void {
    this.#at += size;
  }

  addresses(...ids: AddressId[]): void {
    for (const id of ids) {
      this.bytes(this.#universe.key(id));
    }
  }

  /** 64-bit words; signed and wider numbers are cut to their lowest 64 bits. */
  words(...values: bigint[]): void {
    for (const value of values) {
      this.out.writeBigUInt64LE(BigInt.asUintN(64, value), this.#at);
      this.#at += 8;
    }
  }

  /** An unsigned number of fewer bytes. */
  short(value: bigint, size: number): void {
    this.out.writeUIntLE(Number(value), this.#at, size);
    this.#at += size;
  }

  text(text: string): void {
    const bytes = Buffer.from(text);
    this.out.writeUInt32LE(bytes.length, this.#at);
    this.#at += 4;
    this.bytes(bytes);
  }
}
