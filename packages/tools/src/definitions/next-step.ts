import type { ToolError } from './rented-tool.js';

/** For a caller without a valid identity. A model cannot repair it. */
const SET_UP =
  'Do not call again before the user has repaired it: tell them that the API key or the wallet of these tools';

/**
 * The next step of a model after each error, in the terms of the tools. This is the only list. A new code of the contract
 * does not compile before it has a line here.
 */
export function nextStep(code: ToolError['code']): string {
  switch (code) {
    case 'unauthorized':
      return `${SET_UP} has to be set up.`;
    case 'invalid_api_key':
      return `${SET_UP} has to be replaced.`;
    case 'invalid_signature':
      return `${SET_UP} was refused.`;
    case 'jwt_expired':
      return 'Call the same tool again: it makes a new login.';
    case 'credential_not_found':
      return 'Nothing was charged. Rent it first with rent_listing, then call again.';
    case 'credential_expired':
      return 'Nothing was charged. Renew the subscription with rent_listing, then call again.';
    case 'insufficient_balance':
      return 'Nothing was charged. Top up with rent_listing, then call again.';
    case 'listing_paused':
      return 'Nothing was charged, and a rental is kept. Find another agent with search_listings, or call again later.';
    case 'listing_suspended':
      return 'Nothing was charged. Tell the user, who can take a prepaid balance back. Find another agent with search_listings.';
    case 'invalid_request':
      return 'Nothing was charged. Correct the arguments and call again; get_listing shows the exact input_schema.';
    case 'invalid_listing_id':
      return 'Nothing was charged. search_listings and list_rentals give the ids.';
    case 'listing_not_found':
      return 'Nothing was charged. Find another agent with search_listings.';
    case 'not_found':
      return 'Call get_run with the run_id of an earlier run; run_agent starts another run.';
    case 'rate_limit_exceeded':
      return 'Nothing was charged. Call the same tool again later.';
    case 'internal_error':
    case 'service_unavailable':
    case 'connection_error':
      return 'Call the same tool again in a while.';
    case 'spending_refused':
      return 'Nothing was spent. Do not call again: the owner of this wallet sets its spending limits. Tell the user.';
    case 'approval_required':
      return (
        'Nothing was spent. Tell the owner of this wallet. The owner can raise the limit for spends without approval, or ' +
        'pay at the rent_url that rent_listing returns without a wallet.'
      );
    case 'untrusted_transaction':
      return 'Nothing was signed or paid. Do not call again: tell the user.';
    case 'untrusted_challenge':
      return `Nothing was signed. ${SET_UP} cannot log in here.`;
    default:
      return code satisfies never;
  }
}

/** The next step if an API key lacks a right of its wallet. */
export const NEXT_STEP_OF_POLICY =
  'Nothing was charged. Do not call again: the owner of the API key sets its rights and limits. Tell the user.';
