import type { Gift } from '../world/operations.js';
import type { Values } from './borsh.js';
import { Call } from './call.js';
import { when, type Verdict, type Way } from './errors.js';
import { decodeArgs, instructionOf, type InstructionName, type Meta } from './instruction-table.js';
import { eventsOf } from './events.js';
import { Draft, rentExemptMinimum, type Ledger, type Rent } from './ledger.js';
import { U64_MAX } from './money.js';
import { ACCESS_RULES } from './rules/access.js';
import { CHARGE_RULES } from './rules/charges.js';
import { LISTING_RULES } from './rules/listing.js';
import { PROTOCOL_RULES } from './rules/protocol.js';
import { SALE_RULES } from './rules/sale.js';
import { dataLength, type ModelAccount } from './state.js';
import { checkAccounts } from './structure.js';

const RULES = { ...PROTOCOL_RULES, ...LISTING_RULES, ...SALE_RULES, ...CHARGE_RULES, ...ACCESS_RULES };

/** The model's prediction for an instruction. */
export interface Prediction {
  /** The instruction in the data, or null. */
  name: InstructionName | null;
  args: Values | null;
  verdict: Verdict;
  /** The return value of `verify_access`. Null for other instructions, and with a gift, which is a later instruction. */
  returned: boolean | null;
  /** The events of a successful instruction. */
  events: readonly Buffer[];
  /** The way of its success. */
  way: Way | null;
  draft: Draft;
}

/** The most accounts that the program reads. An instruction may have more. */
const MAX_ACCOUNTS = 64;

/** Predicts the result of an instruction with any data and accounts. The gift follows the instruction. */
export function predict(ledger: Ledger, data: Buffer, metas: readonly Meta[], gift?: Gift): Prediction {
  const draft = new Draft(ledger);
  const name = data.length < 8 ? null : instructionOf(data);
  const args = name === null ? null : decodeArgs(name, data);
  const refused = (verdict: Verdict): Prediction => {
    return { name, args, verdict, returned: null, events: [], way: null, draft };
  };
  if (name === null) {
    return refused(data.length < 8 ? 'InstructionMissing' : 'InstructionFallbackNotFound');
  }
  if (args === null || !isIdUsable(args['listing_id'], name)) {
    return refused('InstructionDidNotDeserialize');
  }
  const call = new Call(name, args, draft);
  const refusal = checkAccounts(call, metas.slice(0, MAX_ACCOUNTS)) ?? RULES[name](call);
  if (refusal !== null) {
    return refused(refusal);
  }
  const events = eventsOf(call);
  const verdict = give(draft, gift) ?? checkRent(draft, metas, gift);
  const returned = gift === undefined ? call.returned : null;
  return verdict === null ? { ...refused(null), returned, events, way: call.way } : refused(verdict);
}

/** The id of a new listing is a seed: 1 to 32 bytes. */
function isIdUsable(id: Values[string], name: InstructionName): boolean {
  const length = typeof id === 'string' ? Buffer.byteLength(id) : 1;
  return name !== 'create_listing' || (length >= 1 && length <= 32);
}

function give(draft: Draft, gift: Gift | undefined): Verdict {
  if (gift === undefined) {
    return null;
  }
  const account = draft.write(gift.to);
  account.lamports += gift.lamports;
  return when(account.lamports > U64_MAX, 'runtime ArithmeticOverflow');
}

/**
 * The runtime allows no account below its rent, except an account that already existed. That one must keep its size and lose no
 * lamports.
 */
function checkRent(draft: Draft, metas: readonly Meta[], gift: Gift | undefined): Verdict {
  const { ledger } = draft;
  const ids = metas.filter(({ isWritable }) => isWritable).map(({ id }) => id);
  const isRefused = [...new Set([...ids, ...(gift === undefined ? [] : [gift.to])])].some(
    (id) => !isRentTransitionAllowed(ledger.rent, ledger.get(id), draft.read(id)),
  );
  return when(isRefused, 'runtime InsufficientFundsForRent');
}

function isRentTransitionAllowed(
  rent: Rent,
  before: Readonly<ModelAccount>,
  after: Readonly<ModelAccount>,
): boolean {
  const isSameSize = before.lamports > 0n && dataLength(before) === dataLength(after);
  return (
    after.lamports === 0n ||
    after.lamports >= rentExemptMinimum(rent, dataLength(after)) ||
    (isSameSize && after.lamports >= before.lamports)
  );
}
