import { createHash } from 'node:crypto';
import { PublicKey } from '@solana/web3.js';

/** An address, as its place in the universe's table. */
export type AddressId = number;

/** The seeds that an address comes from. */
export type PdaKind =
  | 'protocol'
  | 'listing'
  | 'escrow'
  | 'access_credential'
  | 'per_query_balance'
  | 'program_data';

/** How a derived address came about: its kind and its seeds, by address or, for a listing, by id. */
export interface Provenance {
  kind: PdaKind;
  seeds: readonly (AddressId | string)[];
  bump: number;
}

/** The wallets that take part. Each may play every role: a creator buys, an admin sells. */
const WALLET_NAMES = [
  'upgradeAuthority',
  'admin',
  'secondAdmin',
  'authority',
  'secondAuthority',
  'creator',
  'secondCreator',
  'buyer',
  'secondBuyer',
  'thirdBuyer',
  'stranger',
  'treasury',
  'secondTreasury',
  'pauper',
] as const;

/** The name of a wallet. */
export type WalletName = (typeof WALLET_NAMES)[number];

/** Ids that listings are created with: the shortest, the longest, and one that is not ASCII. */
export const LISTING_IDS = [
  'a',
  'invoice-reader-k3m9x2',
  'thirty-two-bytes-long-listing-id',
  'contract-review-aaaaaa',
  'übersetzer-b2c3d4',
  'prospect-finder-zzzzzz',
] as const;

/** How many slots there are for accounts of hostile making. */
const HOSTILE_SLOTS = 10;

/** More than there are addresses. */
const PAIR_FACTOR = 65_536;

/**
 * Every address that a sequence can name, derived once: two address tables of different seeds have other bumps.
 * A derived address is looked up by what it was derived from, never derived again, so the model needs no hashing.
 */
export class Universe {
  readonly keys: Uint8Array[] = [];
  readonly labels: string[] = [];
  readonly #provenances: (Provenance | null)[] = [];
  readonly #byDerivation = new Map<string, AddressId>();
  /** Credentials and balances by wallet and listing: the sum of both and a factor, since they are looked up most. */
  readonly #credentials = new Map<number, AddressId>();
  readonly #balances = new Map<number, AddressId>();
  readonly #byKey = new Map<string, AddressId>();

  readonly systemProgram: AddressId;
  readonly program: AddressId;
  readonly loader: AddressId;
  readonly nativeLoader: AddressId;
  readonly sysvarOwner: AddressId;
  readonly clockSysvar: AddressId;
  readonly rentSysvar: AddressId;
  readonly otherProgram: AddressId;
  /** What the runtime reserves against writing. */
  readonly reserved: readonly AddressId[];
  readonly feePayer: AddressId;
  readonly wallets: Record<WalletName, AddressId>;
  readonly walletIds: readonly AddressId[];
  readonly protocol: AddressId;
  readonly programData: AddressId;
  readonly listings: readonly AddressId[];
  readonly escrows: readonly AddressId[];
  /** Addresses of the same seeds at a lower bump, where the program must never create anything. */
  readonly nonCanonical: readonly AddressId[];
  /** Addresses whose accounts the fuzzer plants. */
  readonly hostile: readonly AddressId[];
  /** An address that nothing ever is at. */
  readonly absent: AddressId;

  constructor(seed: number) {
    const named = (label: string): AddressId =>
      this.#add(createHash('sha256').update(`${seed} ${label}`).digest(), label, null);
    const fixed = (base58: string, label: string): AddressId =>
      this.#add(new PublicKey(base58).toBytes(), label, null);

    this.systemProgram = fixed('11111111111111111111111111111111', 'systemProgram');
    this.program = named('program');
    this.loader = fixed('BPFLoaderUpgradeab1e11111111111111111111111', 'loader');
    this.nativeLoader = fixed('NativeLoader1111111111111111111111111111111', 'nativeLoader');
    this.sysvarOwner = fixed('Sysvar1111111111111111111111111111111111111', 'sysvarOwner');
    this.clockSysvar = fixed('SysvarC1ock11111111111111111111111111111111', 'clockSysvar');
    this.rentSysvar = fixed('SysvarRent111111111111111111111111111111111', 'rentSysvar');
    this.otherProgram = named('otherProgram');
    this.reserved = [this.systemProgram, this.program, this.clockSysvar, this.rentSysvar];
    this.feePayer = named('feePayer');
    const wallets = WALLET_NAMES.map((name) => [name, named(name)] as const);
    this.wallets = Object.fromEntries(wallets) as Record<WalletName, AddressId>;
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
      for (const [name, wallet] of wallets) {
        const pair = wallet * PAIR_FACTOR + listing;
        const of = `of ${name}, listing${index}`;
        this.#credentials.set(pair, this.#derive('access_credential', [wallet, listing], `credential ${of}`));
        this.#balances.set(pair, this.#derive('per_query_balance', [wallet, listing], `balance ${of}`));
        if (name === 'buyer') {
          nonCanonical.push(this.#deriveBelow('access_credential', [wallet, listing], 'credential'));
          nonCanonical.push(this.#deriveBelow('per_query_balance', [wallet, listing], 'balance'));
        }
      }
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
    return this.labels[id] ?? `address ${id}`;
  }

  /** The address with these bytes, or null. */
  find(key: Uint8Array): AddressId | null {
    return this.#byKey.get(Buffer.from(key).toString('latin1')) ?? null;
  }

  /** The address with these bytes; one that was never named before gets a place of its own. */
  intern(key: Uint8Array): AddressId {
    return this.find(key) ?? this.#add(key, `address ${this.keys.length}`, null);
  }

  /** Whether an address can have a key: a derived one has none. */
  canSign(id: AddressId): boolean {
    return this.provenance(id) === null && !this.nonCanonical.includes(id);
  }

  /** Where an address comes from; null when it is no known derived address, or one at another bump. */
  provenance(id: AddressId): Provenance | null {
    return this.#provenances[id] ?? null;
  }

  /** The canonical address of seeds, or null when no account can be there in this universe. */
  derived(kind: PdaKind, ...seeds: (AddressId | string)[]): AddressId | null {
    return this.#byDerivation.get(`${kind} ${seeds.join(' ')}`) ?? null;
  }

  /** The address of a wallet's credential; one that nothing is at for who is no wallet of this universe. */
  credentialOf(buyer: AddressId, listing: AddressId): AddressId {
    return this.#credentials.get(buyer * PAIR_FACTOR + listing) ?? this.absent;
  }

  /** The address of a wallet's prepaid balance, likewise. */
  balanceOf(buyer: AddressId, listing: AddressId): AddressId {
    return this.#balances.get(buyer * PAIR_FACTOR + listing) ?? this.absent;
  }

  #add(key: Uint8Array, label: string, provenance: Provenance | null): AddressId {
    const id = this.keys.length;
    this.keys.push(Uint8Array.from(key));
    this.labels.push(label);
    this.#provenances.push(provenance);
    this.#byKey.set(Buffer.from(key).toString('latin1'), id);
    return id;
  }

  #seedBytes(kind: PdaKind, seeds: readonly (AddressId | string)[]): Uint8Array[] {
    const bytes = seeds.map((seed) => (typeof seed === 'string' ? Buffer.from(seed) : this.key(seed)));
    return kind === 'program_data' ? bytes : [Buffer.from(kind), ...bytes];
  }

  #owner(kind: PdaKind): PublicKey {
    return new PublicKey(this.key(kind === 'program_data' ? this.loader : this.program));
  }

  #derive(kind: PdaKind, seeds: readonly (AddressId | string)[], label: string): AddressId {
    const [address, bump] = PublicKey.findProgramAddressSync(this.#seedBytes(kind, seeds), this.#owner(kind));
    const id = this.#add(address.toBytes(), label, { kind, seeds, bump });
    this.#byDerivation.set(`${kind} ${seeds.join(' ')}`, id);
    return id;
  }

  #deriveBelow(kind: PdaKind, seeds: readonly (AddressId | string)[], label: string): AddressId {
    const bytes = this.#seedBytes(kind, seeds);
    const [, bump] = PublicKey.findProgramAddressSync(bytes, this.#owner(kind));
    for (let lower = bump - 1; lower > 0; lower -= 1) {
      try {
        const all = [...bytes, Uint8Array.of(lower)];
        const address = PublicKey.createProgramAddressSync(all, this.#owner(kind));
        return this.#add(address.toBytes(), `${label} at bump ${lower}`, null);
      } catch {
        // On the curve: not an address of a program.
      }
    }
    throw new RangeError(`There is no second address of ${label}.`);
  }
}
