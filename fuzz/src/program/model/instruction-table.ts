import { createHash } from 'node:crypto';
import type { AddressId, PdaKind } from '../world/universe.js';
import { CHARGE_FIELDS, decode, encode, fieldsOf, type Fields, type Values } from './borsh.js';

/** The program's types of accounts. */
export type StateType = Exclude<PdaKind, 'program_data'>;

/**
 * An instruction's rule for one account.
 *
 * `seeds` are the names of the address's seeds: other accounts, or arguments as `arg:name`.
 */
export interface AccountRule {
  name: string;
  kind: 'wallet' | 'optional' | 'system' | 'existing' | 'new' | 'ensured' | 'maybe';
  signer?: true;
  writable?: true;
  state?: StateType;
  seeds?: readonly string[];
  /** The account must equal the protocol's field with the account's name. */
  namedByProtocol?: true;
}

/** One instruction: arguments and accounts in their order on the wire. `consume_queries` takes further accounts after these. */
export interface InstructionRule {
  args: Fields;
  accounts: readonly AccountRule[];
}

const SEEDS: Record<StateType, readonly string[] | undefined> = {
  protocol: [],
  // Any listing is accepted, unless its id is an argument. The seeds of other accounts name it.
  listing: undefined,
  escrow: ['listing'],
  access_credential: ['buyer', 'listing'],
  per_query_balance: ['buyer', 'listing'],
};

/** The account rule of each word in the table. */
const ASKED = {
  signer: { kind: 'wallet', signer: true },
  payer: { kind: 'wallet', signer: true, writable: true },
  wallet: { kind: 'wallet' },
  payee: { kind: 'wallet', writable: true },
  named: { kind: 'wallet', writable: true, namedByProtocol: true },
  optional: { kind: 'optional' },
  program: { kind: 'system' },
  reads: { kind: 'existing' },
  writes: { kind: 'existing', writable: true },
  creates: { kind: 'new', writable: true },
  ensures: { kind: 'ensured', writable: true },
  maybe: { kind: 'maybe' },
} as const satisfies Record<string, Omit<AccountRule, 'name'>>;

/** Reads account rules from a text with `word name`, and with seeds if they differ from the type's. */
function accountsOf(text: string): AccountRule[] {
  return text.split(/,\s+/).map((each) => {
    const [word = '', name = '', ...given] = each.split(' ');
    const asked = ASKED[word as keyof typeof ASKED];
    if (!(name in SEEDS)) {
      return { name, ...asked };
    }
    const state = name as StateType;
    const seeds = given.length > 0 ? given : SEEDS[state];
    return { name, state, ...asked, ...(seeds === undefined ? {} : { seeds }) };
  });
}

const rule = (args: string, accounts: string): InstructionRule => ({
  args: fieldsOf(args),
  accounts: accountsOf(accounts),
});

/** The rules of `consume_queries` for a charge's two accounts. The second one's buyer is the first one's. */
export const CHARGE_ACCOUNTS = accountsOf('reads access_credential, writes per_query_balance');

const SALE = 'payer buyer, reads protocol';
const PAID = 'named treasury, program system_program';

/** Every instruction of the design. */
const INSTRUCTION_RULES = {
  initialize_protocol: rule(
    'admin:pubkey authority:pubkey fee_bps:u16 min_query_price_lamports:u64',
    'payer upgrade_authority, creates protocol, wallet program_data, wallet treasury, program system_program',
  ),
  update_protocol: rule(
    `pending_admin:?pubkey authority:?pubkey next_authority:?pubkey
      fee_bps:?u16 min_query_price_lamports:?u64 paused:?bool`,
    'signer admin, writes protocol, optional new_treasury',
  ),
  create_listing: rule(
    'listing_id:string rental_model:model price_lamports:u64 min_deposit_lamports:u64 metadata_uri:string',
    `payer creator, signer authority, reads protocol,
      creates listing arg:listing_id, creates escrow, program system_program`,
  ),
  update_listing: rule(
    'price_lamports:?u64 min_deposit_lamports:?u64 metadata_uri:?string paused:?bool',
    'signer creator, reads protocol, writes listing',
  ),
  close_listing: rule('', 'signer creator, writes listing, reads escrow'),
  moderate_listing: rule('suspended:bool', 'signer admin, reads protocol, writes listing'),
  purchase_one_time: rule(
    'max_price_lamports:u64',
    `${SALE}, reads listing, writes escrow, creates access_credential, ${PAID}`,
  ),
  purchase_subscription: rule(
    'duration_seconds:u64 max_price_lamports:u64',
    `${SALE}, writes listing, writes escrow, creates access_credential, ${PAID}`,
  ),
  purchase_per_query: rule(
    'deposit_lamports:u64 max_price_lamports:u64',
    `${SALE}, reads listing, creates access_credential, creates per_query_balance, program system_program`,
  ),
  renew_subscription: rule(
    'duration_seconds:u64 max_price_lamports:u64',
    `${SALE}, writes listing, writes escrow, writes access_credential, ${PAID}`,
  ),
  topup_balance: rule(
    'amount_lamports:u64 max_price_lamports:u64',
    `${SALE}, reads listing, reads access_credential, writes per_query_balance, program system_program`,
  ),
  fund_balance: rule(
    'amount_lamports:u64 max_price_lamports:u64',
    `payer payer, signer authority, reads protocol, reads listing, wallet buyer,
      ensures access_credential, ensures per_query_balance, program system_program`,
  ),
  consume_query: {
    args: CHARGE_FIELDS,
    accounts: accountsOf(
      `signer authority, reads protocol, reads listing, writes escrow, wallet buyer,
        reads access_credential, writes per_query_balance, named treasury`,
    ),
  },
  consume_queries: rule(
    'charges:charge[]',
    'signer authority, reads protocol, reads listing, writes escrow, named treasury',
  ),
  revoke_access: rule(
    '',
    'signer admin, reads protocol, reads listing, wallet buyer, writes access_credential',
  ),
  revoke_per_query_access: rule(
    '',
    'signer revoker, reads protocol, reads listing, payee buyer, writes access_credential, writes per_query_balance',
  ),
  withdraw_earnings: rule('amount_lamports:?u64', 'payer creator, reads listing, writes escrow'),
  verify_access: rule(
    'buyer:pubkey listing_id:string',
    'maybe listing arg:listing_id, maybe access_credential arg:buyer listing, maybe per_query_balance arg:buyer listing',
  ),
};

/** The name of an instruction. */
export type InstructionName = keyof typeof INSTRUCTION_RULES;

/** Every instruction's name. */
export const INSTRUCTION_NAMES = Object.keys(INSTRUCTION_RULES) as InstructionName[];

/** The rule of an instruction. */
export function instructionRule(name: InstructionName): InstructionRule {
  return INSTRUCTION_RULES[name];
}

/** Anchor's discriminator: the first eight bytes of the sha256 of a name. */
export function discriminator(name: string): Buffer {
  return createHash('sha256').update(name).digest().subarray(0, 8);
}

const discriminators = new Map(INSTRUCTION_NAMES.map((name) => [name, discriminator(`global:${name}`)]));
const byDiscriminator = new Map([...discriminators].map(([name, bytes]) => [bytes.readBigUInt64LE(), name]));

/** The instruction whose discriminator the data starts with, or null. */
export function instructionOf(data: Buffer): InstructionName | null {
  return byDiscriminator.get(data.readBigUInt64LE()) ?? null;
}

/** The data of an instruction. */
export function encodeData(name: InstructionName, args: Values): Buffer {
  return Buffer.concat([
    discriminators.get(name) ?? Buffer.alloc(8),
    ...encode(instructionRule(name).args, args),
  ]);
}

/** The arguments after the discriminator; null when the data does not match exactly. */
export function decodeArgs(name: InstructionName, data: Buffer): Values | null {
  return decode(instructionRule(name).args, data, 8);
}

/** One charge of a run, by its argument names. */
export interface Charge extends Values {
  sequence: bigint;
  run_id: Uint8Array;
  price_lamports: bigint;
}

/** The charges in an instruction's arguments: one, a list, or none. */
export function chargesIn(args: Values): readonly Charge[] {
  const { charges = 'sequence' in args ? [args] : [] } = args;
  return charges as readonly Charge[];
}

/** An account of an instruction, with its privileges. */
export interface Meta {
  id: AddressId;
  isSigner: boolean;
  isWritable: boolean;
}

/** The accounts of an instruction with its required privileges. An account without an id gets `absent`. */
export function metasOf(name: InstructionName, ids: Record<string, AddressId>, absent: AddressId): Meta[] {
  return instructionRule(name).accounts.map((rule) => ({
    id: ids[rule.name] ?? absent,
    isSigner: rule.signer === true,
    isWritable: rule.writable === true,
  }));
}
