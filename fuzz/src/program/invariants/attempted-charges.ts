import type { Snapshot } from './snapshot.js';
import { chargeOf, chargesIn, type Charge } from '../model/instruction-table.js';
import { chargePlace, withoutPlace, type Verdict } from '../model/errors.js';
import { instructionRule, type InstructionName } from '../model/instruction-table.js';
import type { Prediction } from '../model/predict.js';
import type { AddressId } from '../world/universe.js';

/** A charge that an instruction asks for, and what it was refused with: null when the program took it. */
export interface AttemptedCharge extends Charge {
  balance: AddressId;
  refusal: Verdict;
}

/**
 * The charges that an instruction came to: of several, those in front of a refused one were taken, whatever became of
 * the transaction, and those behind it were not looked at. None where the refusal is about no charge.
 */
export function attemptedCharges(
  { metas }: Snapshot,
  { name, args }: Prediction,
  verdict: Verdict,
): AttemptedCharge[] {
  if (name === 'consume_query' && args !== null) {
    const balance = metas[accountsOf(name).findIndex((account) => account.name === 'per_query_balance')]?.id;
    return balance === undefined ? [] : [{ ...chargeOf(args), balance, refusal: verdict }];
  }
  if (name !== 'consume_queries' || (verdict !== null && chargePlace(verdict) === 0)) {
    return [];
  }
  const refused = chargePlace(verdict);
  const charges = chargesIn(args).slice(0, refused === 0 ? undefined : refused);
  return charges.flatMap((charge, index) => {
    const balance = metas[accountsOf(name).length + 2 * index + 1]?.id;
    const refusal = index + 1 === refused ? withoutPlace(verdict) : null;
    return balance === undefined ? [] : [{ ...charge, balance, refusal }];
  });
}

function accountsOf(name: InstructionName): { name: string }[] {
  return [...instructionRule(name).accounts];
}
