import { AGENT_CONTACT_MINUTES, CREDITS_PER_DAY } from '@agent-rental/contract';
import { PROGRAM_ERRORS } from '@agent-rental/program-client';

/** What `{{name}}` stands for in the SQL functions: numbers that other code or users know, too. */
export const FUNCTION_CONSTANTS: Readonly<Record<string, number>> = {
  credits_per_day: CREDITS_PER_DAY,
  agent_contact_minutes: AGENT_CONTACT_MINUTES,
  insufficient_balance: errorCode('InsufficientBalance'),
  price_above_limit: errorCode('PriceAboveLimit'),
  price_changed: errorCode('PriceChanged'),
};

function errorCode(name: string): number {
  const error = [...PROGRAM_ERRORS.values()].find((each) => each.name === name);
  if (error === undefined) throw new Error(`The program has no error ${name}.`);
  return error.code;
}
