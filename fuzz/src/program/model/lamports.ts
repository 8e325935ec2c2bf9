import type { AddressId } from '../world/universe.js';
import type { Call } from './call.js';
import { CODE, RUNTIME, SYSTEM_INSUFFICIENT_LAMPORTS, type Verdict } from './errors.js';
import type { StateType } from './instruction-table.js';
import { rentExemptMinimum } from './ledger.js';
import { U64_MAX } from './money.js';
import { dataLength, NO_DATA, type ProgramState } from './state.js';

/** Lamports per byte above which the program does not reckon. */
const MAX_LAMPORTS_PER_BYTE = 2n ** 40n;

/** The rent of an account as the program reckons it, or the refusal. */
export function programRent(call: Call, size: number): bigint | Exclude<Verdict, null> {
  const { rent } = call;
  if (rent.lamportsPerByte > MAX_LAMPORTS_PER_BYTE) {
    return CODE.ArithmeticOverflow;
  }
  return rent.threshold === 1 || rent.threshold === 2
    ? rentExemptMinimum(rent, size)
    : RUNTIME.UnsupportedSysvar;
}

/** A transfer by the System program, with its own checks in its own order. */
export function systemTransfer(call: Call, from: AddressId, to: AddressId, lamports: bigint): Verdict {
  const payer = call.draft.write(from);
  if (dataLength(payer) > 0) {
    return RUNTIME.InvalidArgument;
  }
  if (lamports > payer.lamports) {
    return SYSTEM_INSUFFICIENT_LAMPORTS;
  }
  if (lamports > 0n && payer.owner !== call.universe.systemProgram) {
    return RUNTIME.ExternalAccountLamportSpend;
  }
  payer.lamports -= lamports;
  const payee = call.draft.write(to);
  if (payee.lamports + lamports > U64_MAX) {
    return RUNTIME.ArithmeticOverflow;
  }
  payee.lamports += lamports;
  return null;
}

/** The program moves lamports of an account of its own. */
export function moveLamports(call: Call, from: AddressId, to: AddressId, lamports: bigint): Verdict {
  const payer = call.draft.write(from);
  if (payer.lamports < lamports) {
    return CODE.ArithmeticOverflow;
  }
  payer.lamports -= lamports;
  const payee = call.draft.write(to);
  if (payee.lamports + lamports > U64_MAX) {
    return CODE.ArithmeticOverflow;
  }
  payee.lamports += lamports;
  return null;
}

/**
 * Creates an account: what is at the address counts towards its rent, never towards `extra`; the payer adds the rest.
 */
export function createAccount(
  call: Call,
  payer: AddressId,
  state: ProgramState,
  size: number,
  extra = 0n,
): Verdict {
  const id = call.id(state.type satisfies StateType);
  const rent = programRent(call, size);
  if (typeof rent !== 'bigint') {
    return rent;
  }
  const present = call.draft.read(id).lamports;
  const lamports = (present < rent ? rent - present : 0n) + extra;
  if (lamports > U64_MAX) {
    return CODE.ArithmeticOverflow;
  }
  const refused = systemTransfer(call, payer, id, lamports);
  if (refused !== null) {
    return refused;
  }
  const account = call.draft.write(id);
  account.owner = call.universe.program;
  account.data = state;
  return null;
}

/** Closes an account of the program: every lamport in it, donated ones too, goes to `to`. */
export function closeAccount(call: Call, id: AddressId, to: AddressId): Verdict {
  const refused = moveLamports(call, id, to, call.draft.read(id).lamports);
  if (refused !== null) {
    return refused;
  }
  const account = call.draft.write(id);
  account.owner = call.universe.systemProgram;
  account.data = NO_DATA;
  return null;
}
