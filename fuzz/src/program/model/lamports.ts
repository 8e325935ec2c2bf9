import type { AddressId } from '../world/universe.js';
import type { Call } from './call.js';
import { when, type Verdict } from './errors.js';
import { rentExemptMinimum } from './ledger.js';
import { U64_MAX } from './money.js';
import { dataLength, NO_DATA, STATE_SIZES, type ProgramState } from './state.js';

/** The program refuses to calculate with more lamports per byte. */
const MAX_LAMPORTS_PER_BYTE = 2n ** 40n;

/** The program's calculation of an account's rent, or the refusal. */
export function programRent({ draft }: Call, size: number): bigint | string {
  const { rent } = draft.ledger;
  if (rent.lamportsPerByte > MAX_LAMPORTS_PER_BYTE) {
    return 'ArithmeticOverflow';
  }
  return rent.threshold === 1 || rent.threshold === 2
    ? rentExemptMinimum(rent, size)
    : 'runtime UnsupportedSysvar';
}

function move({ draft }: Call, from: AddressId, to: AddressId, lamports: bigint, overflow: string): Verdict {
  draft.write(from).lamports -= lamports;
  const payee = draft.write(to);
  if (payee.lamports + lamports > U64_MAX) {
    return overflow;
  }
  payee.lamports += lamports;
  return null;
}

/** A transfer by the System program, with its checks in its order. */
export function systemTransfer(call: Call, from: AddressId, to: AddressId, lamports: bigint): Verdict {
  const payer = call.draft.read(from);
  const isForeign = payer.owner !== call.universe.systemProgram;
  return (
    when(dataLength(payer) > 0, 'runtime InvalidArgument') ??
    when(lamports > payer.lamports, 'system error 1') ??
    when(lamports > 0n && isForeign, 'runtime ExternalAccountLamportSpend') ??
    move(call, from, to, lamports, 'runtime ArithmeticOverflow')
  );
}

/** Moves lamports out of one of the program's own accounts. */
export function moveLamports(call: Call, from: AddressId, to: AddressId, lamports: bigint): Verdict {
  return (
    when(call.draft.read(from).lamports < lamports, 'ArithmeticOverflow') ??
    move(call, from, to, lamports, 'ArithmeticOverflow')
  );
}

/**
 * Creates an account. Lamports at the address count towards its rent, never towards `extra`. The payer adds the rest.
 */
export function createAccount(call: Call, payer: AddressId, state: ProgramState, extra = 0n): Verdict {
  const id = call.id(state.type);
  const rent = programRent(call, STATE_SIZES[state.type]);
  if (typeof rent !== 'bigint') {
    return rent;
  }
  const present = call.draft.read(id).lamports;
  const lamports = (present < rent ? rent - present : 0n) + extra;
  const refused = when(lamports > U64_MAX, 'ArithmeticOverflow') ?? systemTransfer(call, payer, id, lamports);
  if (refused === null) {
    Object.assign(call.draft.write(id), { owner: call.universe.program, data: state });
  }
  return refused;
}

/** Closes an account of the program. All its lamports, including donations, go to `to`. */
export function closeAccount(call: Call, id: AddressId, to: AddressId): Verdict {
  const refused = moveLamports(call, id, to, call.draft.read(id).lamports);
  if (refused === null) {
    Object.assign(call.draft.write(id), { owner: call.universe.systemProgram, data: NO_DATA });
  }
  return refused;
}
