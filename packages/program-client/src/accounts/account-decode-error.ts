/** The reason why bytes are not an account of the expected type. */
export type AccountDecodeReason = 'too_short' | 'wrong_discriminator' | 'unsupported_version' | 'malformed';

const marker: unique symbol = Symbol.for('@agent-rental/program-client/AccountDecodeError');

/** Account bytes of another type or version than the decoder's. Recognise it by {@link isAccountDecodeError}. */
export class AccountDecodeError extends Error {
  readonly [marker] = true;
  /** The account type that was expected, for instance `Listing`. */
  readonly account: string;
  readonly reason: AccountDecodeReason;

  constructor(account: string, reason: AccountDecodeReason, detail: string) {
    super(`Not a ${account} account: ${detail}`);
    this.name = 'AccountDecodeError';
    this.account = account;
    this.reason = reason;
  }
}

/** True for an {@link AccountDecodeError}, also one of another copy of this package. */
export function isAccountDecodeError(error: unknown): error is AccountDecodeError {
  return typeof error === 'object' && error !== null && marker in error;
}
