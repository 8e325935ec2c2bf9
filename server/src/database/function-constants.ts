import {
  AGENT_CONTACT_MINUTES,
  CREDITS_PER_DAY,
  HEALTH_FAILING_DAYS,
  HEALTH_HIDDEN_DAYS,
  LOW_BALANCE_RUNS,
  TRIALS_OF_ADDRESS_PER_DAY,
  TRIALS_OF_LISTING_PER_DAY,
  TRIALS_OF_LISTING_PER_HOUR,
  TRIALS_OF_WALLET_PER_DAY,
} from '@agent-rental/contract';

/**
 * The values of `{{name}}` in the SQL functions: numbers that other code or users know, too. Errors of the program are by
 * their codes; a test compares them with the program's.
 */
export const FUNCTION_CONSTANTS: Readonly<Record<string, number>> = {
  credits_per_day: CREDITS_PER_DAY,
  agent_contact_minutes: AGENT_CONTACT_MINUTES,
  health_failing_days: HEALTH_FAILING_DAYS,
  health_hidden_days: HEALTH_HIDDEN_DAYS,
  low_balance_runs: LOW_BALANCE_RUNS,
  trials_of_address_per_day: TRIALS_OF_ADDRESS_PER_DAY,
  trials_of_listing_per_day: TRIALS_OF_LISTING_PER_DAY,
  trials_of_listing_per_hour: TRIALS_OF_LISTING_PER_HOUR,
  trials_of_wallet_per_day: TRIALS_OF_WALLET_PER_DAY,
  insufficient_balance: 6003,
  price_above_limit: 6101,
  price_changed: 6104,
};
