import type { RentalModel } from '@agent-rental/contract';

/** How a rental model is put into words. */
export const MODEL_WORDS: Readonly<Record<RentalModel, string>> = {
  one_time: 'paid once, then every task is free',
  subscription: 'for 30 days, with every task in that time free',
  per_query: 'per task, out of a prepaid balance',
};

/** The unit of a price, beside its amount. */
export const PRICE_UNITS: Readonly<Record<RentalModel, string>> = {
  one_time: 'once',
  subscription: 'for 30 days',
  per_query: 'per task',
};

/** The name of a rental model in a choice. */
export const MODEL_NAMES: Readonly<Record<RentalModel, string>> = {
  one_time: 'One-time',
  subscription: 'Subscription',
  per_query: 'Per task',
};
