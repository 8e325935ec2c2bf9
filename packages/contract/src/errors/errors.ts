import * as z from 'zod';
import { apiKeyScope, POLICY_RULES } from '../identity/identity.js';
import { approvalOffer } from '../identity/spending-approval.js';
import { transactionProposal } from '../rentals/transactions.js';

/**
 * Every error code of the API and its HTTP status (spec, "Errors"). `not_found` is for routes, jobs and runs that do not
 * exist. The server takes statuses from this table, and the sdk makes its errors from it.
 */
export const ERROR_STATUS = {
  unauthorized: 401,
  invalid_api_key: 401,
  jwt_expired: 401,
  invalid_signature: 401,
  credential_not_found: 403,
  credential_expired: 403,
  insufficient_balance: 403,
  listing_paused: 403,
  listing_suspended: 403,
  invalid_request: 400,
  invalid_listing_id: 400,
  listing_not_found: 404,
  not_found: 404,
  rate_limit_exceeded: 429,
  internal_error: 500,
  service_unavailable: 503,
} as const;

export type ErrorCode = keyof typeof ERROR_STATUS;

/** All error codes, as a list. */
export const ERROR_CODES = Object.keys(ERROR_STATUS) as [ErrorCode, ...ErrorCode[]];

/** The on-chain cause of an error: the program's address and its error number. */
export const onChainError = z
  .object({ program: z.string(), anchor_code: z.int() })
  .meta({ id: 'OnChainError' });
export type OnChainError = z.infer<typeof onChainError>;

/** Details of an error. `request_id` repeats the `X-Request-Id` header. */
const errorDetails = z
  .object({
    code: z.enum(ERROR_CODES),
    message: z.string(),
    /** The cause alone, without the next step of a caller over HTTP; absent where `message` is the cause alone. */
    reason: z.string().optional(),
    status: z.int(),
    request_id: z.string().optional(),
    run_id: z.string().optional(),
    on_chain_error: onChainError.optional(),
    /** The rule of the API key's spending policy that refused. */
    policy_rule: z.enum(POLICY_RULES).optional(),
    /** The API key needs one of these scopes and has none of them. */
    required_scopes: z.array(apiKeyScope).optional(),
    /** With `policy_rule: ask_above_lamports`: the page where the owner of the wallet approves. Then repeat the request. */
    approval: approvalOffer.optional(),
    /** The submitted transaction is too old. Sign this one, which does the same. */
    proposal: transactionProposal.optional(),
  })
  .meta({ id: 'ErrorDetails' });

/** The body of every error response. */
export const errorEnvelope = z.object({ error: errorDetails }).meta({ id: 'ErrorEnvelope' });
export type ErrorEnvelope = z.infer<typeof errorEnvelope>;
