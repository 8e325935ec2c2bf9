import type { Gift } from '../world/operations.js';
import type { AddressId } from '../world/universe.js';
import { type Values } from './borsh.js';
import { decodeArgs, instructionOf } from './instruction-table.js';
import { Call, type Meta } from './call.js';
import { CODE, RUNTIME, type Verdict } from './errors.js';
import type { InstructionName } from './instruction-table.js';
import { eventsOf } from './events.js';
import { Draft, rentExemptMinimum, type Ledger, type Rent } from './ledger.js';
import { U64_MAX } from './money.js';
import { RULES } from './rules/index.js';
import { dataLength, type ModelAccount } from './state.js';
import { checkAccounts } from './structure.js';
import type { Way } from './errors.js';

/** What the model says of an instruction, and what it would change. */
export interface Prediction {
  /** The instruction that the data names, or null. */
  name: InstructionName | null;
  args: Values | null;
  verdict: Verdict;
  /** What `verify_access` returns; null for the others, and where another instruction of the transaction returns last. */
  returned: boolean | null;
  /** What a successful instruction logs as its events. */
  events: readonly Buffer[];
  /** Which of several ways to succeed it takes. */
  way: Way | null;
  draft: Draft;
}

/** How many accounts the program reads; an instruction may have more. */
const MAX_ACCOUNTS = 64;

/** Predicts how an instruction ends, for any data and accounts; a gift comes behind it. */
export function predict(ledger: Ledger, data: Buffer, metas: readonly Meta[], gift?: Gift): Prediction {
  const draft = new Draft(ledger);
  const refused = (
    verdict: Verdict,
    name: InstructionName | null = null,
    args: Values | null = null,
  ): Prediction => ({
    name,
    args,
    verdict,
    returned: null,
    events: [],
    way: null,
    draft,
  });
  if (data.length < 8) {
    return refused(CODE.InstructionMissing);
  }
  const name = instructionOf(data);
  if (name === null) {
    return refused(CODE.InstructionFallbackNotFound);
  }
  const args = decodeArgs(name, data);
  if (args === null || !isIdUsable(args['listing_id'], name)) {
    return refused(CODE.InstructionDidNotDeserialize, name);
  }
  const call = new Call(name, args, draft);
  const refusal = checkAccounts(call, metas.slice(0, MAX_ACCOUNTS)) ?? RULES[name](call);
  if (refusal !== null) {
    return refused(refusal, name, args);
  }
  const events = eventsOf(call);
  const verdict = (gift === undefined ? null : give(draft, gift)) ?? rentRefusal(draft, metas, gift);
  return verdict === null
    ? {
        name,
        args,
        verdict,
        returned: gift === undefined ? call.returned : null,
        events,
        way: call.way,
        draft,
      }
    : refused(verdict, name, args);
}

/** The id of a new listing is a seed: 1 to 32 bytes. */
function isIdUsable(id: Values[string] | undefined, name: InstructionName): boolean {
  if (name !== 'create_listing' || typeof id !== 'string') {
    return true;
  }
  const length = Buffer.byteLength(id);
  return length >= 1 && length <= 32;
}

function give(draft: Draft, { to, lamports }: Gift): Verdict {
  const account = draft.write(to);
  account.lamports += lamports;
  return account.lamports > U64_MAX ? RUNTIME.ArithmeticOverflow : null;
}

/** The runtime leaves no account below its rent, unless it was there before and has not become less or larger. */
function rentRefusal(draft: Draft, metas: readonly Meta[], gift: Gift | undefined): Verdict {
  const { ledger } = draft;
  const seen = new Set<AddressId>();
  const given = gift === undefined ? [] : [{ id: gift.to, isWritable: true }];
  for (const { id, isWritable } of [...metas, ...given]) {
    if (isWritable && !seen.has(id)) {
      seen.add(id);
      if (!isRentTransitionAllowed(ledger.rent, ledger.get(id), draft.read(id))) {
        return RUNTIME.InsufficientFundsForRent;
      }
    }
  }
  return null;
}

function isRentTransitionAllowed(
  rent: Rent,
  before: Readonly<ModelAccount>,
  after: Readonly<ModelAccount>,
): boolean {
  if (after.lamports === 0n || after.lamports >= rentExemptMinimum(rent, dataLength(after))) {
    return true;
  }
  return (
    before.lamports > 0n && dataLength(before) === dataLength(after) && after.lamports >= before.lamports
  );
}
