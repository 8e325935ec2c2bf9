import type { ChainAccount } from '../world/chain.js';
import type { Meta } from '../model/instruction-table.js';
import { chargePlace, withoutPlace, type Verdict } from '../model/errors.js';
import {
  chargeOf,
  chargesIn,
  instructionRule,
  type Charge,
  type InstructionName,
} from '../model/instruction-table.js';
import type { Prediction } from '../model/predict.js';
import type { AddressId } from '../world/universe.js';

/** A charge that an instruction asks for, and what it was refused with: null when the program took it. */
export interface AttemptedCharge extends Charge {
  balance: AddressId;
  refusal: Verdict;
}

/** An instruction, and what its writable accounts held on the chain before it. */
export interface Attempt {
  name: InstructionName;
  args: Prediction['args'];
  metas: readonly Meta[];
  /** Unix seconds. */
  now: bigint;
  /** Empty for an instruction that will be refused. */
  was: ReadonlyMap<AddressId, ChainAccount | null>;
}

/** The address of an account by its name in the instruction. */
export function addressOf({ name, metas }: Attempt, account: string): AddressId | undefined {
  return metas[instructionRule(name).accounts.findIndex((rule) => rule.name === account)]?.id;
}

/**
 * The charges that an instruction came to: of several, those in front of a refused one were taken, whatever became of
 * the transaction, and those behind it were not looked at. None where the refusal is about no charge.
 */
export function attemptedCharges(attempt: Attempt, verdict: Verdict): AttemptedCharge[] {
  const { name, args, metas } = attempt;
  if (name === 'consume_query' && args !== null) {
    const balance = addressOf(attempt, 'per_query_balance');
    return balance === undefined ? [] : [{ ...chargeOf(args), balance, refusal: verdict }];
  }
  const refused = chargePlace(verdict);
  if (name !== 'consume_queries' || (verdict !== null && refused === 0)) {
    return [];
  }
  const behind = metas.slice(instructionRule(name).accounts.length);
  const charges = chargesIn(args).slice(0, refused === 0 ? undefined : refused);
  return charges.flatMap((charge, index) => {
    const balance = behind[2 * index + 1]?.id;
    const refusal = index + 1 === refused ? withoutPlace(verdict) : null;
    return balance === undefined ? [] : [{ ...charge, balance, refusal }];
  });
}
