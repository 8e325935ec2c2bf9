import type { ChainAccount } from '../world/chain.js';
import type { Meta } from '../model/instruction-table.js';
import {
  chargeOf,
  chargesIn,
  instructionRule,
  type Charge,
  type InstructionName,
} from '../model/instruction-table.js';
import type { Prediction } from '../model/predict.js';
import type { AddressId } from '../world/universe.js';

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

/** The prices that the charges of an instruction name, added up for each balance. */
export function pricesOf(attempt: Attempt): Map<AddressId, bigint> {
  const { name, args, metas } = attempt;
  const prices = new Map<AddressId, bigint>();
  const note = (balance: AddressId | undefined, { price }: Charge): void => {
    if (balance !== undefined) {
      prices.set(balance, (prices.get(balance) ?? 0n) + price);
    }
  };
  if (name === 'consume_query' && args !== null) {
    note(addressOf(attempt, 'per_query_balance'), chargeOf(args));
  } else if (name === 'consume_queries') {
    const behind = metas.slice(instructionRule(name).accounts.length);
    chargesIn(args).forEach((charge, index) => note(behind[2 * index + 1]?.id, charge));
  }
  return prices;
}
