import type { AddressId, Universe } from '../world/universe.js';
import type { Value, Values } from './borsh.js';
import { when, type Verdict, type Way } from './errors.js';
import type { InstructionName, Meta, StateType } from './instruction-table.js';
import type { Draft } from './ledger.js';
import { U64_MAX } from './money.js';
import type { StateOf } from './state.js';

/** The rules of some instructions after the checks of their accounts: they change the draft, or refuse. */
export type Rules<Name extends InstructionName> = Record<Name, (call: Call) => Verdict>;

/** One instruction in the model. */
export class Call {
  readonly name: InstructionName;
  readonly args: Values;
  readonly draft: Draft;
  readonly universe: Universe;
  /** The instruction's accounts by their names. */
  readonly at: Record<string, AddressId> = {};
  /** The accounts after the instruction's named ones. */
  behind: readonly Meta[] = [];
  /** The events logged during the instruction. */
  readonly logged: Buffer[] = [];
  /** The instruction's return value. */
  returned: boolean | null = null;
  /** The way of its success, for statistics. */
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

  /** The address of an instruction's account. */
  id(name: string): AddressId {
    const id = this.at[name];
    if (id === undefined) {
      throw new RangeError(`${this.name} has no account ${name}.`);
    }
    return id;
  }

  /** An argument with its type from the table of instructions, or `otherwise` when it is absent. */
  arg<T extends Value>(name: string, otherwise: T): T {
    return (this.args[name] ?? otherwise) as T;
  }

  /** An address argument; null when it is absent. */
  address(name: string): AddressId | null {
    const bytes = this.arg<Uint8Array | null>(name, null);
    return bytes === null ? null : this.universe.intern(bytes);
  }

  /** The state of the account whose name is its type. */
  state<T extends StateType>(type: T): Readonly<StateOf<T>> {
    const { data } = this.draft.read(this.id(type));
    if (data.type !== type) {
      throw new TypeError(`Expected ${type}, found ${data.type}.`);
    }
    return data as StateOf<T>;
  }

  /** Changes fields of that state. @returns the refusal when an amount does not fit its field */
  change<T extends StateType>(type: T, fields: Partial<StateOf<T>>): Verdict {
    this.state(type);
    Object.assign(this.draft.write(this.id(type)).data, fields);
    const isTooLarge = Object.values(fields).some((value) => typeof value === 'bigint' && value > U64_MAX);
    return when(isTooLarge, 'ArithmeticOverflow');
  }

  get protocol(): Readonly<StateOf<'protocol'>> {
    return this.state('protocol');
  }
  get listing(): Readonly<StateOf<'listing'>> {
    return this.state('listing');
  }
  get escrow(): Readonly<StateOf<'escrow'>> {
    return this.state('escrow');
  }
  get credential(): Readonly<StateOf<'access_credential'>> {
    return this.state('access_credential');
  }
  get balance(): Readonly<StateOf<'per_query_balance'>> {
    return this.state('per_query_balance');
  }
}
