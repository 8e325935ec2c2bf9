const MARKER = Symbol.for('agent-rental.untrusted-transaction');

/** The reason for a refusal before or after the signature. */
export type UntrustedReason =
  /** Not a wire transaction. */
  | 'malformed'
  /** A lookup table hides accounts. */
  | 'lookup_table'
  /** Another wallet pays. */
  | 'payer'
  /** It asks for the signature of an account without a role in it. */
  | 'signer'
  /** A signature is missing or wrong. */
  | 'signature'
  /** It calls a program without a role in it. */
  | 'program'
  /** It has other marketplace instructions than the requested action. */
  | 'instruction'
  /** An account does not follow from wallet and listing. */
  | 'account'
  /** A value differs from the request. */
  | 'argument'
  /** It would cost more than the agreed price, or there is no agreed price. */
  | 'price'
  /** Its priority fee is above the limit. */
  | 'network_fee'
  /** The marketplace's quote differs from the transaction. */
  | 'quote'
  /** A payment of a call is beyond the limits of its payer. */
  | 'limit'
  /** A service asks for another payment than the one of the call. */
  | 'challenge'
  /** The `approve` callback refused. */
  | 'declined';

/**
 * A transaction differs from the requested action. It was not signed. If a wallet changed it while signing, it was not
 * sent. Recognise the error with {@link isUntrustedTransaction}, which also works across copies of this package.
 */
export class UntrustedTransactionError extends Error {
  override readonly name = 'UntrustedTransactionError';
  readonly [MARKER] = true;
  readonly reason: UntrustedReason;

  constructor(reason: UntrustedReason, what: string) {
    super(`The transaction was refused: it ${what}.`);
    this.reason = reason;
  }
}

/** Whether a thrown value is an {@link UntrustedTransactionError}. */
export function isUntrustedTransaction(value: unknown): value is UntrustedTransactionError {
  return typeof value === 'object' && value !== null && MARKER in value;
}
