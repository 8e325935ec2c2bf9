/**
 * Actions that change the destination of renters' tasks and inputs: the entrypoint, the model, and their secret or key. A
 * bearer token alone is not enough; the wallet signs each change.
 */
export const CONFIRMED_ACTIONS = ['update_agent', 'set_model_key', 'rotate_webhook_secret'] as const;
export type ConfirmedAction = (typeof CONFIRMED_ACTIONS)[number];

/** Names of the request headers that carry the wallet's confirmation. */
export const CONFIRMATION_HEADERS = {
  challenge: 'X-Wallet-Challenge',
  signature: 'X-Wallet-Signature',
} as const;

/** Descriptions of the headers. */
export const CONFIRMATION_HEADER_NOTES = {
  [CONFIRMATION_HEADERS.challenge]:
    'Of a signed change: a challenge of `GET /v1/auth/challenge`, at most 60 seconds old.',
  [CONFIRMATION_HEADERS.signature]:
    "Of a signed change: the wallet's signature over the change and that challenge, in base58. " +
    'Without it the answer is 401 `invalid_signature` and holds the text to sign.',
} as const;

/** One change, as the wallet confirms it. */
export interface ConfirmedChange {
  /** Host of the service, with its port where that is not the scheme's own: `new URL(baseUrl).host`. */
  service: string;
  action: ConfirmedAction;
  listing_id: string;
  /** SHA-256 of the canonical JSON of the request's body, in hex; of `{}` where the request has none. */
  change_sha256: string;
  wallet: string;
}

/**
 * The text that a wallet signs to confirm a change. The challenge holds the time, ends after 60 seconds and works once.
 */
export function confirmationMessage(change: ConfirmedChange, challenge: string): string {
  return [
    "agent-rental: change where renters' data goes",
    `service: ${change.service}`,
    `action: ${change.action}`,
    `listing: ${change.listing_id}`,
    `change: sha256 ${change.change_sha256}`,
    `wallet: ${change.wallet}`,
    challenge,
  ].join('\n');
}
