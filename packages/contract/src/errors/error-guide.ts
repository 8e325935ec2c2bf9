import { RESULT_KEPT_HOURS } from '../limits.js';
import type { ErrorCode } from './errors.js';

/** How a client should read an error code. */
export interface ErrorGuidance {
  /** When the service answers with the code; several cases are separated by semicolons. */
  readonly when: string;
  /** What the caller does next. */
  readonly whatToDo: string;
}

/** When each error code happens and what to do about it. The source of `docs/errors.md`. */
export const ERROR_GUIDE: Readonly<Record<ErrorCode, ErrorGuidance>> = {
  unauthorized: {
    when: 'The Authorization header is missing, malformed or holds an unknown token; or the operation takes the token of a wallet login and got an API key.',
    whatToDo:
      'Send `Authorization: Bearer <API key or token>`. For operations of the wallet alone, log in: `GET /v1/auth/challenge`, then `POST /v1/auth/token`.',
  },
  invalid_api_key: {
    when: 'The API key is unknown, was revoked, or belongs to another network.',
    whatToDo: 'Use another key, or create one with `POST /v1/api-keys`. Do not retry.',
  },
  jwt_expired: {
    when: 'The token of a login is older than one hour.',
    whatToDo: 'Log in again and repeat the request. The sdk does this by itself.',
  },
  invalid_signature: {
    when: 'A signature does not fit its message, or its challenge is unknown, used or expired; or a change of where data of renters goes lacks the confirmation of the wallet.',
    whatToDo:
      'Get a new challenge and sign it again. For a change, sign the text at the end of the message and send it in `X-Wallet-Challenge` and `X-Wallet-Signature`.',
  },
  credential_not_found: {
    when: 'The wallet has not rented the listing (for files: any listing), or the rental was revoked (`on_chain_error` 6006); the API key lacks a scope (`required_scopes`); or its policy does not allow the listing or renting (`policy_rule`).',
    whatToDo:
      'With `required_scopes` or `policy_rule`: use a key that may. With 6006: the rental does not come back. Otherwise rent the listing with `POST /v1/transactions`.',
  },
  credential_expired: {
    when: 'The subscription has ended.',
    whatToDo: 'Renew it: `POST /v1/transactions` with `action: renew`.',
  },
  insufficient_balance: {
    when: 'The prepaid balance cannot pay the next run; the price is above the one that the balance agreed to; or the policy of the API key refuses the amount (`policy_rule`), or asks its owner first (`approval`). Nothing was charged.',
    whatToDo:
      'With `approval`: give its `url` to the owner of the wallet, and repeat the request once they have approved. With another `policy_rule`: use a key with another policy, or wait until the day has room. Otherwise top up; an amount of 0 agrees to a new price.',
  },
  listing_paused: {
    when: 'The creator has paused the listing, so it runs and sells nothing.',
    whatToDo: 'Try later, or rent another listing. A prepaid balance can be reclaimed after long pauses.',
  },
  invalid_request: {
    when: 'The request is malformed, too large, or breaks a rule; the message names the field. Includes inputs that the schema of the agent refuses and transactions that the program or the network refuses.',
    whatToDo: 'Correct what the message names. The same request fails again.',
  },
  invalid_listing_id: {
    when: 'The listing id has the wrong form.',
    whatToDo: 'Take the id from `GET /v1/listings`.',
  },
  listing_not_found: {
    when: 'The listing does not exist, is not published or is closed; or it belongs to another creator, who alone may change it.',
    whatToDo: 'Search again with `GET /v1/listings`.',
  },
  not_found: {
    when: 'The route, job, run, key or file does not exist, has expired, or belongs to another wallet.',
    whatToDo: `Check the address and the id. Results of runs and files are kept for ${RESULT_KEPT_HOURS} hours.`,
  },
  rate_limit_exceeded: {
    when: 'A limit of requests, runs or unpublished agents is used up, or the queue for the slots of the listing is full or took too long; or 255 charges of the rental are not final yet, which takes some seconds. Nothing was charged.',
    whatToDo: 'Wait as many seconds as `Retry-After` says, then repeat the request.',
  },
  internal_error: {
    when: 'An unexpected fault of the service. The answer tells nothing of its cause.',
    whatToDo: 'Retry with the same `Idempotency-Key`. If it stays, report `request_id` to the operator.',
  },
  service_unavailable: {
    when: 'A part is out for a while: the server drains, no sandbox or database connection is free, the chain or the agent does not answer, a charge is not confirmed yet (`run_id`), the price changed, or the protocol is paused.',
    whatToDo:
      'Wait as many seconds as `Retry-After` says and retry with the same `Idempotency-Key`. With `run_id`, `GET /v1/runs/{run_id}` gives the result once its charge is confirmed.',
  },
};
