import type { RentalModel } from '@agent-rental/contract';

/** How a rental model is put into words. */
export const MODEL_WORDS: Readonly<Record<RentalModel, string>> = {
  one_time: 'paid once, then every task is free',
  subscription: 'for 30 days, with every task in that time free',
  per_query: 'per task, out of a prepaid balance',
};
