import type { ErrorCode } from '@agent-rental/contract';
import { isApiError, isUntrustedChallenge, type ApiError } from '@agent-rental/sdk';
import { creatorLine, MARKETPLACE_MARK } from '../text/creator-text.js';
import { lamportsText } from '../text/lamports-text.js';
import type { ToolResult } from './rented-tool.js';
import { ApprovalRequiredError, SpendingRefusedError, type SpendingRequest } from '../spending/policy.js';

/** What the caller of a tool can do about each error. */
const ADVICE: Record<ErrorCode, string> = {
  unauthorized:
    'The marketplace needs an API key or a wallet: this has to be set up outside this conversation.',
  invalid_api_key: 'The API key is wrong or revoked: this has to be set up outside this conversation.',
  jwt_expired: 'The login has expired: call again.',
  invalid_signature: "The wallet's signature was refused: this has to be set up outside this conversation.",
  credential_not_found:
    'This wallet has not rented the agent. Nothing was charged. Rent it first with rent_listing, then call again.',
  credential_expired:
    'The subscription has ended. Nothing was charged. Renew it with rent_listing, then call again.',
  insufficient_balance:
    'The prepaid balance does not cover a run at the present price. Nothing was charged. Top up with ' +
    'rent_listing, then call again.',
  listing_paused:
    'The creator has paused the agent. Nothing was charged, and the rental is kept. Try again later, or find ' +
    'another agent with search_listings.',
  invalid_request:
    'Nothing was charged. Correct the arguments and call again; get_listing shows the exact input_schema.',
  invalid_listing_id: 'Nothing was charged. Ids look like invoice-reader-k3x7qa; search_listings gives them.',
  listing_not_found: 'Nothing was charged. Find another agent with search_listings.',
  not_found: 'Check the id.',
  rate_limit_exceeded: 'Nothing was charged. Wait, then call again.',
  internal_error: 'Call again in a while.',
  service_unavailable: 'Nothing was run. Call again in a while.',
};

/** For actions that the key may not do, although its wallet may. */
const POLICY_ADVICE =
  'Calling again changes nothing: the owner of the API key decides what it may do and spend.';

/** What to do where the policy on this side refuses. */
const OWN_POLICY_ADVICE =
  'Nothing was spent. Calling again changes nothing: the owner of this wallet decides what it may spend.';

/**
 * An error result for what a call threw.
 *
 * @param unanswered what to say when no answer came.
 */
export function resultOfError(thrown: unknown, unanswered = 'Call again in a while.'): ToolResult {
  if (thrown instanceof SpendingRefusedError) {
    return {
      status: 'error',
      text: `${MARKETPLACE_MARK} spending_refused: ${thrown.message} ${OWN_POLICY_ADVICE}`,
      error: { code: 'spending_refused', rule: thrown.rule },
    };
  }
  if (thrown instanceof ApprovalRequiredError) return resultOfMissingApproval(thrown.request);
  if (isUntrusted(thrown)) {
    return {
      status: 'error',
      text: `${MARKETPLACE_MARK} untrusted_transaction: ${thrown.message} Nothing was signed or paid.`,
      error: { code: 'untrusted_transaction' },
    };
  }
  if (isUntrustedChallenge(thrown)) {
    return {
      status: 'error',
      text: `${MARKETPLACE_MARK} untrusted_challenge: ${thrown.message} Nothing was signed: this has to be set up outside this conversation.`,
      error: { code: 'untrusted_challenge' },
    };
  }
  if (!isApiError(thrown)) {
    const message = thrown instanceof Error ? thrown.message : String(thrown);
    return {
      status: 'error',
      text: `${MARKETPLACE_MARK} connection_error: ${creatorLine(message, 300)} ${unanswered}`,
      error: { code: 'connection_error' },
    };
  }
  return {
    status: 'error',
    text: `${MARKETPLACE_MARK} ${thrown.code}: ${creatorLine(thrown.message, 600)} ${adviceFor(thrown)}`,
    ...(thrown.runId === undefined ? {} : { runId: thrown.runId }),
    error: {
      code: thrown.code,
      status: thrown.status,
      ...(thrown.requestId === undefined ? {} : { requestId: thrown.requestId }),
      ...(thrown.retryAfterSeconds === undefined ? {} : { retryAfterSeconds: thrown.retryAfterSeconds }),
    },
  };
}

function resultOfMissingApproval(request: SpendingRequest): ToolResult {
  const { agentId, lamports, kind } = request;
  const what = kind === 'rental' ? `Renting ${agentId} for` : `A run of ${agentId} at`;
  return {
    status: 'error',
    text:
      `${MARKETPLACE_MARK} approval_required: ${what} ${lamportsText(lamports)} has to be approved by a person, and ` +
      'there is no way to ask one here. Nothing was spent. Tell the owner of this wallet, who can raise the amount that ' +
      'needs no approval, or rent it by the rent_url of rent_listing.',
    error: { code: 'approval_required', approval: request },
  };
}

/** As the sdk recognises it, without loading the chain's library for it. */
function isUntrusted(thrown: unknown): thrown is Error {
  return thrown instanceof Error && thrown.name === 'UntrustedTransactionError';
}

/** An error result for arguments that need not be sent to be refused. */
export function resultOfBadArguments(message: string): ToolResult {
  return {
    status: 'error',
    text: `${MARKETPLACE_MARK} invalid_request: ${message} Nothing was sent or charged.`,
    error: { code: 'invalid_request' },
  };
}

function adviceFor(error: ApiError): string {
  const isByKey = error.policyRule !== undefined || error.requiredScopes !== undefined;
  const said = [isByKey ? POLICY_ADVICE : ADVICE[error.code]];
  if (error.runId !== undefined) {
    said.splice(
      0,
      1,
      `The run had begun: get_run {"run_id": "${error.runId}"} gives its result once there is one.`,
    );
  }
  if (error.retryAfterSeconds !== undefined) said.push(`Wait ${error.retryAfterSeconds} seconds first.`);
  if (error.requestId !== undefined) said.push(`(request ${creatorLine(error.requestId, 80)})`);
  return said.join(' ');
}
