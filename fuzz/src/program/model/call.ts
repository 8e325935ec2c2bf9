import type { AddressId, Universe } from '../world/universe.js';
import { type Values } from './borsh.js';
import type { Way } from './errors.js';
import type { InstructionName } from './instruction-table.js';
import type { Draft, Rent } from './ledger.js';
import type {
  BalanceState,
  CredentialState,
  EscrowState,
  ListingState,
  ProgramState,
  ProtocolState,
} from './state.js';

/** An account of an instruction, with the privileges that it has in the whole transaction. */
export interface Meta {
  id: AddressId;
  isSigner: boolean;
  isWritable: boolean;
}

/** One instruction on its way through the model. */
export class Call {
  readonly name: InstructionName;
  readonly args: Values;
  readonly draft: Draft;
  readonly universe: Universe;
  /** The instruction's accounts by their names. */
  readonly at: Record<string, AddressId> = {};
  /** The accounts behind those that the instruction names. */
  behind: readonly Meta[] = [];
  /** What is logged while the instruction runs. */
  readonly logged: Buffer[] = [];
  /** What the instruction returns. */
  returned: boolean | null = null;
  /** By which of several ways it succeeds, for statistics. */
  way: Way | null = null;

  constructor(name: InstructionName, args: Values, draft: Draft) {
    this.name = name;
    this.args = args;
    this.draft = draft;
    this.universe = draft.ledger.universe;
  }

  get now(): bigint {
    return this.draft.ledger.now;
  }

  get rent(): Rent {
    return this.draft.ledger.rent;
  }

  /** The address that an instruction's account has. */
  id(name: string): AddressId {
    const id = this.at[name];
    if (id === undefined) {
      throw new RangeError(`${this.name} has no account ${name}.`);
    }
    return id;
  }

  /** A u64 argument. */
  amount(name: string): bigint {
    const value = this.args[name];
    if (typeof value !== 'bigint') {
      throw new TypeError(`${this.name} has no amount ${name}.`);
    }
    return value;
  }

  /** A u64 argument that may be left out. */
  optionalAmount(name: string): bigint | null {
    return this.args[name] === null ? null : this.amount(name);
  }

  /** A text argument. */
  text(name: string): string {
    const value = this.args[name];
    if (typeof value !== 'string') {
      throw new TypeError(`${this.name} has no text ${name}.`);
    }
    return value;
  }

  /** An address argument. */
  address(name: string): AddressId {
    const value = this.args[name];
    if (!(value instanceof Uint8Array)) {
      throw new TypeError(`${this.name} has no address ${name}.`);
    }
    return this.universe.intern(value);
  }

  /** The program's state at one of the accounts, to be read. */
  state<T extends ProgramState['type']>(type: T): Readonly<Extract<ProgramState, { type: T }>> {
    const { data } = this.draft.read(this.id(type));
    return narrow(data, type);
  }

  /** The program's state at one of the accounts, to be changed. */
  writeState<T extends ProgramState['type']>(type: T): Extract<ProgramState, { type: T }> {
    const { data } = this.draft.write(this.id(type));
    return narrow(data, type);
  }

  get protocol(): Readonly<ProtocolState> {
    return this.state('protocol');
  }

  get listing(): Readonly<ListingState> {
    return this.state('listing');
  }

  get escrow(): Readonly<EscrowState> {
    return this.state('escrow');
  }

  get credential(): Readonly<CredentialState> {
    return this.state('access_credential');
  }

  get balance(): Readonly<BalanceState> {
    return this.state('per_query_balance');
  }
}

function narrow<T extends ProgramState['type']>(
  data: { type: string },
  type: T,
): Extract<ProgramState, { type: T }> {
  if (data.type !== type) {
    throw new TypeError(`Expected ${type}, found ${data.type}.`);
  }
  return data as Extract<ProgramState, { type: T }>;
}
