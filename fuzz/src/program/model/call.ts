import type { AddressId, Universe } from '../world/universe.js';
import type { Value, Values } from './borsh.js';
import { when, type Verdict, type Way } from './errors.js';
import type { InstructionName, Meta, StateType } from './instruction-table.js';
import type { Draft } from './ledger.js';
import { U64_MAX } from './money.js';
import type { StateOf } from './state.js';

/** What some instructions do once their accounts are in order: the change of the draft, or the refusal. */
export type Rules<Name extends InstructionName> = Record<Name, (call: Call) => Verdict>;

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

  /** The address that an instruction's account has. */
  id(name: string): AddressId {
    const id = this.at[name];
    if (id === undefined) {
      throw new RangeError(`${this.name} has no account ${name}.`);
    }
    return id;
  }

  /** An argument, of the type that the table of instructions gives it; `otherwise` where it is not given. */
  arg<T extends Value>(name: string, otherwise: T): T {
    return (this.args[name] ?? otherwise) as T;
  }

  /** An address argument; null where it is not given. */
  address(name: string): AddressId | null {
    const bytes = this.arg<Uint8Array | null>(name, null);
    return bytes === null ? null : this.universe.intern(bytes);
  }

  /** The program's state at the account that has its type for a name. */
  state<T extends StateType>(type: T): Readonly<StateOf<T>> {
    const { data } = this.draft.read(this.id(type));
    if (data.type !== type) {
      throw new TypeError(`Expected ${type}, found ${data.type}.`);
    }
    return data as StateOf<T>;
  }

  /** Changes fields of that state; the refusal where an amount does not fit its field. */
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
