import { solFromLamports, type RentalModel } from '@agent-rental/contract';

/** How a rental model is put into words. */
export const MODEL_WORDS: Readonly<Record<RentalModel, string>> = {
  one_time: 'paid once, then every task is free',
  subscription: 'for 30 days; every task in that time is free',
  per_query: 'per task, out of a prepaid balance',
};

/** An amount in SOL as a decimal, never as a power of ten. */
export function solWords(lamports: bigint): string {
  const decimal = solFromLamports(lamports).toFixed(9);
  return `${decimal.replace(/\.?0+$/, '')} SOL`;
}
