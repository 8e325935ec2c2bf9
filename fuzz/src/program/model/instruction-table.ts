import { createHash } from 'node:crypto';

/** The types that arguments have. */
export type ArgType =
  | 'bool'
  | 'u16'
  | 'u64'
  | 'pubkey'
  | 'string'
  | 'model'
  | 'bytes16'
  | { option: 'bool' | 'u16' | 'u64' | 'pubkey' | 'string' }
  | { list: readonly (readonly [string, 'u64' | 'bytes16'])[] };

/** The program's types of accounts. */
export type StateType = 'protocol' | 'listing' | 'escrow' | 'access_credential' | 'per_query_balance';

/**
 * What an instruction asks of one account.
 *
 * `seeds` name what the address must be derived from: other accounts, or arguments as `arg:name`.
 */
export interface AccountRule {
  name: string;
  kind: 'wallet' | 'optional' | 'system' | 'existing' | 'new' | 'maybe';
  signer?: true;
  writable?: true;
  state?: StateType;
  seeds?: readonly string[];
  /** The account must be the one that the protocol's field of this account's name holds. */
  namedByProtocol?: true;
}

/** One instruction: arguments, then accounts, in their order on the wire; `consume_queries` takes further ones behind. */
export interface InstructionRule {
  args: readonly (readonly [string, ArgType])[];
  accounts: readonly AccountRule[];
}

const signer = (name: string): AccountRule => ({ name, kind: 'wallet', signer: true });
const payer = (name: string): AccountRule => ({ name, kind: 'wallet', signer: true, writable: true });
const wallet = (name: string): AccountRule => ({ name, kind: 'wallet' });
const payee = (name: string): AccountRule => ({ name, kind: 'wallet', writable: true });
const treasury: AccountRule = { name: 'treasury', kind: 'wallet', writable: true, namedByProtocol: true };
const system: AccountRule = { name: 'system_program', kind: 'system' };

const SEEDS: Record<StateType, readonly string[] | undefined> = {
  protocol: [],
  // Any listing is taken, unless its id is an argument: what matters is what belongs to it.
  listing: undefined,
  escrow: ['listing'],
  access_credential: ['buyer', 'listing'],
  per_query_balance: ['buyer', 'listing'],
};

function stateRule(kind: 'existing' | 'new', state: StateType, writable: boolean): AccountRule {
  const seeds = SEEDS[state];
  return {
    name: state,
    kind,
    state,
    ...(writable ? { writable: true } : {}),
    ...(seeds === undefined ? {} : { seeds }),
  };
}
const reads = (state: StateType): AccountRule => stateRule('existing', state, false);
const writes = (state: StateType): AccountRule => stateRule('existing', state, true);
const creates = (state: StateType): AccountRule => stateRule('new', state, true);
const maybe = (state: StateType, seeds: readonly string[]): AccountRule => ({
  name: state,
  kind: 'maybe',
  state,
  seeds,
});

/** What one charge says of its run. */
const CHARGE_FIELDS = [
  ['sequence', 'u64'],
  ['run_id', 'bytes16'],
  ['price_lamports', 'u64'],
] as const;

/** What `consume_queries` asks of the two accounts of a charge. The buyer of the second is the one in the first. */
export const CHARGE_ACCOUNTS = [reads('access_credential'), writes('per_query_balance')] as const;

/** Every instruction, as the design gives it. */
const INSTRUCTION_RULES = {
  initialize_protocol: {
    args: [
      ['admin', 'pubkey'],
      ['authority', 'pubkey'],
      ['fee_bps', 'u16'],
      ['min_query_price_lamports', 'u64'],
    ],
    accounts: [
      payer('upgrade_authority'),
      creates('protocol'),
      wallet('program_data'),
      wallet('treasury'),
      system,
    ],
  },
  update_protocol: {
    args: [
      ['pending_admin', { option: 'pubkey' }],
      ['authority', { option: 'pubkey' }],
      ['next_authority', { option: 'pubkey' }],
      ['fee_bps', { option: 'u16' }],
      ['min_query_price_lamports', { option: 'u64' }],
      ['paused', { option: 'bool' }],
    ],
    accounts: [signer('admin'), writes('protocol'), { name: 'new_treasury', kind: 'optional' }],
  },
  create_listing: {
    args: [
      ['listing_id', 'string'],
      ['rental_model', 'model'],
      ['price_lamports', 'u64'],
      ['min_deposit_lamports', 'u64'],
      ['metadata_uri', 'string'],
    ],
    accounts: [
      payer('creator'),
      signer('authority'),
      reads('protocol'),
      { ...creates('listing'), seeds: ['arg:listing_id'] },
      creates('escrow'),
      system,
    ],
  },
  update_listing: {
    args: [
      ['price_lamports', { option: 'u64' }],
      ['min_deposit_lamports', { option: 'u64' }],
      ['metadata_uri', { option: 'string' }],
      ['paused', { option: 'bool' }],
    ],
    accounts: [signer('creator'), reads('protocol'), writes('listing')],
  },
  close_listing: { args: [], accounts: [signer('creator'), writes('listing'), reads('escrow')] },
  purchase_one_time: {
    args: [['max_price_lamports', 'u64']],
    accounts: [
      payer('buyer'),
      reads('protocol'),
      reads('listing'),
      writes('escrow'),
      creates('access_credential'),
      treasury,
      system,
    ],
  },
  purchase_subscription: {
    args: [
      ['duration_seconds', 'u64'],
      ['max_price_lamports', 'u64'],
    ],
    accounts: [
      payer('buyer'),
      reads('protocol'),
      writes('listing'),
      writes('escrow'),
      creates('access_credential'),
      treasury,
      system,
    ],
  },
  purchase_per_query: {
    args: [
      ['deposit_lamports', 'u64'],
      ['max_price_lamports', 'u64'],
    ],
    accounts: [
      payer('buyer'),
      reads('protocol'),
      reads('listing'),
      creates('access_credential'),
      creates('per_query_balance'),
      system,
    ],
  },
  renew_subscription: {
    args: [
      ['duration_seconds', 'u64'],
      ['max_price_lamports', 'u64'],
    ],
    accounts: [
      payer('buyer'),
      reads('protocol'),
      writes('listing'),
      writes('escrow'),
      writes('access_credential'),
      treasury,
      system,
    ],
  },
  topup_balance: {
    args: [
      ['amount_lamports', 'u64'],
      ['max_price_lamports', 'u64'],
    ],
    accounts: [
      payer('buyer'),
      reads('protocol'),
      reads('listing'),
      reads('access_credential'),
      writes('per_query_balance'),
      system,
    ],
  },
  consume_query: {
    args: CHARGE_FIELDS,
    accounts: [
      signer('authority'),
      reads('protocol'),
      reads('listing'),
      writes('escrow'),
      wallet('buyer'),
      reads('access_credential'),
      writes('per_query_balance'),
      treasury,
    ],
  },
  consume_queries: {
    args: [['charges', { list: CHARGE_FIELDS }]],
    accounts: [signer('authority'), reads('protocol'), reads('listing'), writes('escrow'), treasury],
  },
  revoke_access: {
    args: [],
    accounts: [
      signer('admin'),
      reads('protocol'),
      reads('listing'),
      wallet('buyer'),
      writes('access_credential'),
    ],
  },
  revoke_per_query_access: {
    args: [],
    accounts: [
      signer('revoker'),
      reads('protocol'),
      reads('listing'),
      payee('buyer'),
      writes('access_credential'),
      writes('per_query_balance'),
    ],
  },
  withdraw_earnings: {
    args: [['amount_lamports', { option: 'u64' }]],
    accounts: [payer('creator'), reads('listing'), writes('escrow')],
  },
  verify_access: {
    args: [
      ['buyer', 'pubkey'],
      ['listing_id', 'string'],
    ],
    accounts: [
      maybe('listing', ['arg:listing_id']),
      maybe('access_credential', ['arg:buyer', 'listing']),
      maybe('per_query_balance', ['arg:buyer', 'listing']),
    ],
  },
} as const satisfies Record<string, InstructionRule>;

/** The name of an instruction. */
export type InstructionName = keyof typeof INSTRUCTION_RULES;

/** Every instruction's name. */
export const INSTRUCTION_NAMES = Object.keys(INSTRUCTION_RULES) as InstructionName[];

/** What an instruction asks. */
export function instructionRule(name: InstructionName): InstructionRule {
  return INSTRUCTION_RULES[name];
}

/** What the data of an instruction begins with: Anchor's discriminator. */
export const DISCRIMINATORS: Readonly<Record<InstructionName, Buffer>> = Object.fromEntries(
  INSTRUCTION_NAMES.map((name) => [name, discriminator(`global:${name}`)]),
) as Record<InstructionName, Buffer>;

/** The first eight bytes of the sha256 of a name in Anchor's name space. */
export function discriminator(name: string): Buffer {
  return createHash('sha256').update(name).digest().subarray(0, 8);
}
