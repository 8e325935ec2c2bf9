const MARKER = Symbol.for('agent-rental.untrusted-transaction');

/** Why a transaction is not signed, or not sent after signing. */
export type UntrustedReason =
  /** Not a wire transaction. */
  | 'malformed'
  /** A lookup table hides accounts. */
  | 'lookup_table'
  /** Another wallet pays. */
  | 'payer'
  /** It asks for the signature of an account that has no part in it. */
  | 'signer'
  /** A signature is missing or wrong. */
  | 'signature'
  /** A program is called that has no part in it. */
  | 'program'
  /** Other instructions of the marketplace than those that do what was asked for. */
  | 'instruction'
  /** An account is not the one that follows from wallet and listing. */
  | 'account'
  /** A value is not the one that was asked for. */
  | 'argument'
  /** It would cost more than was agreed to, or nothing was agreed to. */
  | 'price'
  /** Its priority fee is above the limit. */
  | 'network_fee'
  /** The marketplace's quote says something else than the transaction itself. */
  | 'quote'
  /** The `approve` callback said no. */
  | 'declined';

/**
 * A transaction does something else than what was asked for. It was not signed; or, where a wallet changed it
 * while signing, it was not sent. Recognise it with {@link isUntrustedTransaction}, which holds across copies of
 * this package.
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
