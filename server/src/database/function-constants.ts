import { AGENT_CONTACT_MINUTES, CREDITS_PER_DAY } from '@agent-rental/contract';

/**
 * What `{{name}}` stands for in the SQL functions: numbers that other code or users know, too. Errors of the program are by
 * their codes; a test compares them with the program's.
 */
export const FUNCTION_CONSTANTS: Readonly<Record<string, number>> = {
  credits_per_day: CREDITS_PER_DAY,
  agent_contact_minutes: AGENT_CONTACT_MINUTES,
  insufficient_balance: 6003,
  price_above_limit: 6101,
  price_changed: 6104,
};
