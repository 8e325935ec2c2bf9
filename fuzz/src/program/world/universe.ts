import { createHash } from 'node:crypto';
import { PublicKey } from '@solana/web3.js';

/** An address: its index in the universe's table. */
export type AddressId = number;

/** The kinds of derived addresses. */
export type PdaKind =
  | 'protocol'
  | 'listing'
  | 'escrow'
  | 'access_credential'
  | 'per_query_balance'
  | 'program_data';

/** The origin of a derived address: its kind, its bump and its seeds. A seed is an address or a listing's id. */
export interface Provenance {
  kind: PdaKind;
  seeds: readonly (AddressId | string)[];
  bump: number;
}

/** The wallets. Each may have every role: a creator buys, an admin sells. */
const WALLET_NAMES = [
  ...(['upgradeAuthority', 'admin', 'secondAdmin', 'authority', 'secondAuthority'] as const),
  ...(['creator', 'secondCreator', 'buyer', 'secondBuyer', 'thirdBuyer', 'stranger'] as const),
  ...(['treasury', 'secondTreasury', 'pauper'] as const),
];

/** Ids of listings, including the shortest, the longest, and one that is not ASCII. */
export const LISTING_IDS = [
  'a',
  'invoice-reader-k3m9x2',
  'thirty-two-bytes-long-listing-id',
  'contract-review-aaaaaa',
  'übersetzer-b2c3d4',
  'prospect-finder-zzzzzz',
];

/** The number of addresses for hostile accounts. */
const HOSTILE_SLOTS = 10;

type Seeds = readonly (AddressId | string)[];

/**
 * Every address in the sequences. Universes of different seeds have different bumps. Each address is derived once and looked up by
 * its seeds, so that the model needs no hashing.
 */
export class Universe {
  readonly keys: Uint8Array[] = [];
  readonly #labels: string[] = [];
  readonly #provenances: (Provenance | null)[] = [];
  readonly #byDerivation = new Map<string, AddressId>();
  /** Credentials and balances by wallet and listing, for the most frequent look-ups. */
  readonly #rentals = new Map<AddressId, Map<AddressId, { credential: AddressId; balance: AddressId }>>();
  readonly #byKey = new Map<string, AddressId>();

  readonly systemProgram = this.#fixed('11111111111111111111111111111111', 'systemProgram');
  readonly loader = this.#fixed('BPFLoaderUpgradeab1e11111111111111111111111', 'loader');
  readonly nativeLoader = this.#fixed('NativeLoader1111111111111111111111111111111', 'nativeLoader');
  readonly sysvarOwner = this.#fixed('Sysvar1111111111111111111111111111111111111', 'sysvarOwner');
  readonly clockSysvar = this.#fixed('SysvarC1ock11111111111111111111111111111111', 'clockSysvar');
  readonly rentSysvar = this.#fixed('SysvarRent111111111111111111111111111111111', 'rentSysvar');
  readonly program: AddressId;
  readonly otherProgram: AddressId;
  /** Addresses that the runtime protects from writes. */
  readonly reserved: readonly AddressId[];
  readonly feePayer: AddressId;
  readonly wallets: Record<(typeof WALLET_NAMES)[number], AddressId>;
  readonly walletIds: readonly AddressId[];
  readonly protocol: AddressId;
  readonly programData: AddressId;
  readonly listings: readonly AddressId[];
  readonly escrows: readonly AddressId[];
  /** Addresses of the same seeds at a lower bump, where the program must never create an account. */
  readonly nonCanonical: readonly AddressId[];
  /** Addresses whose accounts the fuzzer plants. */
  readonly hostile: readonly AddressId[];
  /** An address without an account. */
  readonly absent: AddressId;

  constructor(seed: number) {
    const named = (label: string): AddressId =>
      this.#add(createHash('sha256').update(`${seed} ${label}`).digest(), label, null);
    this.program = named('program');
    this.otherProgram = named('otherProgram');
    this.reserved = [this.systemProgram, this.program, this.clockSysvar, this.rentSysvar];
    this.feePayer = named('feePayer');
    const wallets = WALLET_NAMES.map((name) => [name, named(name)] as const);
    this.wallets = Object.fromEntries(wallets) as typeof this.wallets;
    this.walletIds = wallets.map(([, id]) => id);
    this.absent = named('absent');
    this.hostile = Array.from({ length: HOSTILE_SLOTS }, (_, slot) => named(`hostile${slot}`));

    this.protocol = this.#derive('protocol', [], 'protocol');
    this.programData = this.#derive('program_data', [this.program], 'programData');
    this.listings = LISTING_IDS.map((id, index) => this.#derive('listing', [id], `listing${index}`));
    this.escrows = this.listings.map((listing, index) => this.#derive('escrow', [listing], `escrow${index}`));
    const nonCanonical = [
      this.#deriveBelow('protocol', [], 'protocol'),
      ...LISTING_IDS.map((id, index) => this.#deriveBelow('listing', [id], `listing${index}`)),
    ];
    for (const [index, listing] of this.listings.entries()) {
      nonCanonical.push(this.#deriveBelow('escrow', [listing], `escrow${index}`));
      const rentals = wallets.map(([name, wallet]) => {
        const of = `of ${name}, listing${index}`;
        const credential = this.#derive('access_credential', [wallet, listing], `credential ${of}`);
        const balance = this.#derive('per_query_balance', [wallet, listing], `balance ${of}`);
        return [wallet, { credential, balance }] as const;
      });
      this.#rentals.set(listing, new Map(rentals));
      const seeds = [this.wallets.buyer, listing];
      nonCanonical.push(this.#deriveBelow('access_credential', seeds, 'credential'));
      nonCanonical.push(this.#deriveBelow('per_query_balance', seeds, 'balance'));
    }
    this.nonCanonical = nonCanonical;
  }

  /** The bytes of an address. */
  key(id: AddressId): Uint8Array {
    const key = this.keys[id];
    if (key === undefined) {
      throw new RangeError(`There is no address ${id}.`);
    }
    return key;
  }

  /** The name of an address, for messages. */
  label(id: AddressId): string {
    return this.#labels[id] ?? `address ${id}`;
  }

  /** The address with these bytes, or null. */
  find(key: Uint8Array): AddressId | null {
    return this.#byKey.get(Buffer.from(key).toString('latin1')) ?? null;
  }

  /** The address with these bytes, which is added if it is new. */
  intern(key: Uint8Array): AddressId {
    return this.find(key) ?? this.#add(key, `address ${this.keys.length}`, null);
  }

  /** Whether an address can have a key. A derived address has none. */
  canSign(id: AddressId): boolean {
    return this.provenance(id) === null && !this.nonCanonical.includes(id);
  }

  /** The origin of an address; null for an address that is not derived, or has another bump. */
  provenance(id: AddressId): Provenance | null {
    return this.#provenances[id] ?? null;
  }

  /** The canonical address of seeds, or null when it is not in this universe. */
  derived(kind: PdaKind, ...seeds: (AddressId | string)[]): AddressId | null {
    return this.#byDerivation.get(`${kind} ${seeds.join(' ')}`) ?? null;
  }

  /** The address of a wallet's credential, or `absent` for an unknown wallet. */
  credentialOf(buyer: AddressId, listing: AddressId): AddressId {
    return this.#rentals.get(listing)?.get(buyer)?.credential ?? this.absent;
  }

  /** The address of a wallet's prepaid balance, or `absent` for an unknown wallet. */
  balanceOf(buyer: AddressId, listing: AddressId): AddressId {
    return this.#rentals.get(listing)?.get(buyer)?.balance ?? this.absent;
  }

  #add(key: Uint8Array, label: string, provenance: Provenance | null): AddressId {
    const id = this.keys.length;
    this.keys.push(Uint8Array.from(key));
    this.#labels.push(label);
    this.#provenances.push(provenance);
    this.#byKey.set(Buffer.from(key).toString('latin1'), id);
    return id;
  }

  #fixed(base58: string, label: string): AddressId {
    return this.#add(new PublicKey(base58).toBytes(), label, null);
  }

  /** Derives the canonical address of seeds. @returns it with its bump, the seeds' bytes and the owner */
  #find(
    kind: PdaKind,
    seeds: Seeds,
  ): { bytes: Uint8Array[]; owner: PublicKey; key: Uint8Array; bump: number } {
    const isLoaders = kind === 'program_data';
    const owner = new PublicKey(this.key(isLoaders ? this.loader : this.program));
    const given = seeds.map((seed) => (typeof seed === 'string' ? Buffer.from(seed) : this.key(seed)));
    const bytes = isLoaders ? given : [Buffer.from(kind), ...given];
    const [address, bump] = PublicKey.findProgramAddressSync(bytes, owner);
    return { bytes, owner, key: address.toBytes(), bump };
  }

  #derive(kind: PdaKind, seeds: Seeds, label: string): AddressId {
    const { key, bump } = this.#find(kind, seeds);
    const id = this.#add(key, label, { kind, seeds, bump });
    this.#byDerivation.set(`${kind} ${seeds.join(' ')}`, id);
    return id;
  }

  #deriveBelow(kind: PdaKind, seeds: Seeds, label: string): AddressId {
    const { bytes, owner, bump } = this.#find(kind, seeds);
    for (let lower = bump - 1; lower > 0; lower -= 1) {
      try {
        const address = PublicKey.createProgramAddressSync([...bytes, Uint8Array.of(lower)], owner);
        return this.#add(address.toBytes(), `${label} at bump ${lower}`, null);
      } catch {
        // This address is on the curve, so it is not a program address.
      }
    }
    throw new RangeError(`There is no second address of ${label}.`);
  }
}
