import { ERROR_CODES, ERROR_GUIDE, type ErrorCode, type MARKETPLACE_SKILLS } from '@agent-rental/contract';

/** A skill of the marketplace, or the skill of an agent. */
type Part = (typeof MARKETPLACE_SKILLS)[number] | 'agent';

/** The skills that explain each error. A failed run is no error of the API. */
const EXPLAINED: Readonly<Record<ErrorCode, readonly Part[]>> = {
  unauthorized: [],
  invalid_api_key: [],
  jwt_expired: [],
  invalid_signature: [],
  credential_not_found: ['find-and-rent-an-agent', 'agent'],
  credential_expired: ['keep-a-budget-and-pay', 'agent'],
  insufficient_balance: ['keep-a-budget-and-pay', 'agent'],
  listing_paused: ['find-and-rent-an-agent', 'agent'],
  listing_suspended: ['find-and-rent-an-agent'],
  invalid_request: ['run-follow-and-cancel-runs', 'agent'],
  invalid_listing_id: [],
  listing_not_found: ['find-and-rent-an-agent'],
  not_found: [],
  rate_limit_exceeded: ['run-follow-and-cancel-runs', 'agent'],
  internal_error: [],
  service_unavailable: ['run-follow-and-cancel-runs', 'agent'],
};

/** A skill's section about errors, from the guide to all of them. */
export function errorWords(part: Part): string {
  const codes = ERROR_CODES.filter((code) => EXPLAINED[code].includes(part));
  const lines = codes.map((code) => `- \`${code}\`: ${ERROR_GUIDE[code].when} ${ERROR_GUIDE[code].whatToDo}`);
  return `## When it fails\n\n${lines.join('\n')}`;
}
