import type { AddressId, Universe } from '../world/universe.js';
import { highestOf, windowBits, type Charged } from './charge-window.js';
import { pauseBits, type PauseMemory } from './pauses.js';
import { encode, fieldsOf, sizeOf, type Fields, type Values } from './borsh.js';
import { discriminator, type StateType } from './instruction-table.js';

/** The tags of rental models. */
export const MODEL = { oneTime: 0, subscription: 1, perQuery: 2 } as const;

/** The tags of a listing's status. */
export const STATUS = { active: 0, paused: 1, closed: 2, suspended: 3 } as const;

/** Whether a pause of a listing goes on. A suspension is one. */
export function isPaused({ status }: { status: number }): boolean {
  return status === STATUS.paused || status === STATUS.suspended;
}

/** The fields of each type of account. Roles may be any address. Times are Unix seconds. */
interface States {
  protocol: {
    admin: AddressId;
    pendingAdmin: AddressId;
    authority: AddressId;
    nextAuthority: AddressId;
    treasury: AddressId;
    feeBps: number;
    minQueryPrice: bigint;
    paused: boolean;
  };
  listing: {
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
    /** The price before the last change, and the time of the change; 0 before the first change. */
    previousPrice: bigint;
    priceChangedAt: bigint;
    pauses: PauseMemory;
    id: string;
    uri: string;
  };
  escrow: { listing: AddressId; earnings: bigint; totalEarned: bigint };
  access_credential: {
    buyer: AddressId;
    listing: AddressId;
    model: number;
    valid: boolean;
    purchasedAt: bigint;
    expiresAt: bigint;
  };
  per_query_balance: {
    buyer: AddressId;
    listing: AddressId;
    balance: bigint;
    maxPrice: bigint;
    totalDeposited: bigint;
    totalSpent: bigint;
    charged: Charged;
  };
}

/** Any of the program's accounts. */
export type ProgramState = { [T in StateType]: { type: T } & States[T] }[StateType];

/** The state of one type of account. */
export type StateOf<T extends StateType> = Extract<ProgramState, { type: T }>;

/** Data of an account that the program did not write. */
export interface RawData {
  type: 'raw';
  bytes: Buffer;
}

/** An account in the model. An empty address has 0 lamports and no data. */
export interface ModelAccount {
  lamports: bigint;
  owner: AddressId;
  data: ProgramState | RawData;
}

/** Empty data. */
export const NO_DATA: RawData = { type: 'raw', bytes: Buffer.alloc(0) };

/** The layout version that the program writes. */
export const ACCOUNT_VERSION = 1;

/** The offset of the layout version. */
export const VERSION_AT = 8;

/** The discriminator, the version and the bump. */
const HEAD_BYTES = 10;

/** The longest id and the longest URI. */
const LISTING_TEXT_BYTES = 32 + 200;

const LAYOUTS: Readonly<Record<StateType, Fields>> = {
  protocol: fieldsOf(
    `admin:pubkey pendingAdmin:pubkey authority:pubkey nextAuthority:pubkey treasury:pubkey
      feeBps:u16 minQueryPrice:u64 paused:bool reserved:zeros32`,
  ),
  // The price history and the pauses use formerly reserved bytes.
  listing: fieldsOf(
    `creator:pubkey model:u8 status:u8 price:u64 minDeposit:u64 pausedAt:u64 latestExpiry:u64 revision:u64
      createdAt:u64 updatedAt:u64 previousPrice:u64 priceChangedAt:u64 pauseBits:u64 latest:u32 remainder:u16
      reserved:zeros2 id:string uri:string`,
  ),
  escrow: fieldsOf('listing:pubkey earnings:u64 totalEarned:u64 reserved:zeros32'),
  access_credential: fieldsOf(
    'buyer:pubkey listing:pubkey model:u8 valid:bool purchasedAt:u64 expiresAt:u64 reserved:zeros32',
  ),
  per_query_balance: fieldsOf(
    `buyer:pubkey listing:pubkey balance:u64 maxPrice:u64 totalDeposited:u64 totalSpent:u64 highest:u64
      window:u256 reserved:zeros32`,
  ),
};

function forEachType<T>(make: (type: StateType) => T): Readonly<Record<StateType, T>> {
  const types = Object.keys(LAYOUTS) as StateType[];
  return Object.fromEntries(types.map((type) => [type, make(type)])) as Record<StateType, T>;
}

/** The size of each account in bytes. */
export const STATE_SIZES = forEachType(
  (type) => HEAD_BYTES + sizeOf(LAYOUTS[type]) + (type === 'listing' ? LISTING_TEXT_BYTES : 0),
);

const DISCRIMINATORS = forEachType((type) => {
  const words = type.split('_').map((word) => `${word.slice(0, 1).toUpperCase()}${word.slice(1)}`);
  return discriminator(`account:${words.join('')}`);
});

/** Whether bytes start with the discriminator of a type. */
export function beginsAs(bytes: Uint8Array, type: StateType): boolean {
  return DISCRIMINATORS[type].compare(bytes, 0, 8) === 0;
}

/** Whether bytes have the discriminator and the size of a type. */
export function isOfType(bytes: Uint8Array, type: StateType): boolean {
  return bytes.length === STATE_SIZES[type] && beginsAs(bytes, type);
}

/** The length of an account's data. */
export function dataLength(account: ModelAccount): number {
  return account.data.type === 'raw' ? account.data.bytes.length : STATE_SIZES[account.data.type];
}

/** The fields with another form in the program's accounts. */
function packed(state: ProgramState): Values {
  if (state.type === 'per_query_balance') {
    return { highest: highestOf(state.charged), window: windowBits(state.charged) };
  }
  return state.type === 'listing'
    ? {
        pauseBits: pauseBits(state.pauses),
        latest: state.pauses.latest,
        remainder: state.pauses.remainder,
      }
    : {};
}

/** The expected bytes of an account's data on the chain. */
export function encodeAccountData(universe: Universe, address: AddressId, account: ModelAccount): Buffer {
  const { data } = account;
  if (data.type === 'raw') {
    return data.bytes;
  }
  const bump = universe.provenance(address)?.bump ?? 0;
  const values = { ...data, ...packed(data) };
  const fields = encode(LAYOUTS[data.type], values as unknown as Values, (id) => universe.key(id));
  const parts = [DISCRIMINATORS[data.type], Uint8Array.of(ACCOUNT_VERSION, bump), ...fields];
  // Zeros fill the rest.
  return Buffer.concat(parts, STATE_SIZES[data.type]);
}
