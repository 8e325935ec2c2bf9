import { RESULT_KEPT_HOURS, RESULTS_KEPT_MIB } from '../limits.js';
import type { ErrorCode } from './errors.js';

/** How a client should read an error code. */
export interface ErrorGuidance {
  /** When the service answers with the code. Each case is a sentence, or follows a semicolon. */
  readonly when: string;
  /** The caller's next step. */
  readonly whatToDo: string;
}

/** The causes of each error code, and the caller's next step. The source of `docs/errors.md`. */
export const ERROR_GUIDE: Readonly<Record<ErrorCode, ErrorGuidance>> = {
  unauthorized: {
    when: 'The Authorization header is missing, malformed or holds an unknown token. Or the operation takes the token of a wallet login and got an API key.',
    whatToDo:
      'Send `Authorization: Bearer <API key or token>`. For operations of the wallet alone, log in: `GET /v1/auth/challenge`, then `POST /v1/auth/token`.',
  },
  invalid_api_key: {
    when: 'The API key is unknown, was revoked, or belongs to another network.',
    whatToDo: 'Use another key, or create one with `POST /v1/api-keys`. Do not retry.',
  },
  jwt_expired: {
    when: 'The token of a login is older than one hour.',
    whatToDo: 'Log in again and repeat the request. The sdk does this automatically.',
  },
  invalid_signature: {
    when: "A signature does not fit its message. Or its challenge is unknown, used or expired. Or a change of the destination of renters' data lacks the confirmation of the wallet.",
    whatToDo:
      'Get a new challenge and sign it again. For a change, sign the text at the end of the message and send it in `X-Wallet-Challenge` and `X-Wallet-Signature`.',
  },
  credential_not_found: {
    when: 'The wallet has not rented the listing (for files: any listing). Or the rental was revoked (`on_chain_error` 6006). Or the API key lacks a scope (`required_scopes`). Or its policy does not allow the listing or renting (`policy_rule`).',
    whatToDo:
      'With `required_scopes` or `policy_rule`: use a key with the right scope or policy. With 6006: the rental does not come back. Otherwise rent the listing with `POST /v1/transactions`.',
  },
  credential_expired: {
    when: 'The subscription has ended.',
    whatToDo: 'Renew it: `POST /v1/transactions` with `action: renew`.',
  },
  insufficient_balance: {
    when: 'The prepaid balance cannot pay the next run. Or the price is above the agreed price. Or the policy of the API key refuses the amount (`policy_rule`), or asks its owner first (`approval`). Nothing was charged.',
    whatToDo:
      'With `approval`: give its `url` to the owner of the wallet, and repeat the request after the approval. With another `policy_rule`: use a key with another policy, or wait until the limit of 24 hours allows the amount. Otherwise top up; an amount of 0 agrees to a new price.',
  },
  listing_paused: {
    when: 'The creator has paused the listing. A paused listing cannot be run or rented.',
    whatToDo: 'Try later, or rent another listing. A prepaid balance can be reclaimed after long pauses.',
  },
  listing_suspended: {
    when: 'The operator of the marketplace has suspended the listing. The message has the reason. It cannot be run or rented.',
    whatToDo:
      'Rent another listing. A prepaid balance comes back at once: `POST /v1/transactions` with `action: reclaim`.',
  },
  invalid_request: {
    when: 'The request is malformed, too large (413), of another type (415) or method (405), or breaks a rule; the message names the field. Includes inputs that the schema of the agent refuses and transactions that the program or the network refuses.',
    whatToDo: 'Correct the field that the message names. The same request fails again.',
  },
  invalid_listing_id: {
    when: 'The listing id has the wrong form.',
    whatToDo: 'Take the id from `GET /v1/listings`.',
  },
  listing_not_found: {
    when: 'The listing does not exist, is not published or is closed. Or the request changes the listing of another creator.',
    whatToDo: 'Search again with `GET /v1/listings`.',
  },
  not_found: {
    when: 'The route, job, run, key or file does not exist, has expired, or belongs to another wallet.',
    whatToDo: `Check the address and the id. Results of runs and files are kept for ${RESULT_KEPT_HOURS} hours. Each wallet and each listing keeps ${RESULTS_KEPT_MIB} MiB of results.`,
  },
  rate_limit_exceeded: {
    when: 'A limit of requests, runs or unpublished agents is used up. Or the queue for the slots of the listing is full or took too long. Or 255 charges of the rental are not final yet, which takes some seconds. Nothing was charged.',
    whatToDo: 'Wait as many seconds as `Retry-After` says, then repeat the request.',
  },
  internal_error: {
    when: 'An unexpected fault of the service. The answer does not tell its cause.',
    whatToDo:
      'Retry with the same `Idempotency-Key`. If the error stays, report `request_id` to the operator.',
  },
  service_unavailable: {
    when: 'The server drains, or no sandbox or database connection is free. Or the chain or the agent does not answer. Or a charge is not confirmed yet (`run_id`). Or the price changed. Or the protocol is paused.',
    whatToDo:
      'Wait as many seconds as `Retry-After` says and retry with the same `Idempotency-Key`. With `run_id`, `GET /v1/runs/{run_id}` gives the result once its charge is confirmed.',
  },
};
