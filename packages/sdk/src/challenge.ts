const MARKER = Symbol.for('agent-rental.untrusted-challenge');

/** How far this machine's clock and the service's may be apart. */
const CLOCK_SKEW_SECONDS = 300;
/** A service prefix, an auth literal, the time in Unix seconds, and 32 random bytes. */
const FORM = /^agent-rental:auth:(\d{1,12}):([0-9a-f]{64})$/;

/**
 * A service asked a wallet to sign a text that is not a current login to that service. Nothing was signed. Recognise the
 * error with {@link isUntrustedChallenge}, which also works across copies of this package.
 */
export class UntrustedChallengeError extends Error {
  override readonly name = 'UntrustedChallengeError';
  readonly [MARKER] = true;

  constructor(reason: string) {
    super(`The wallet was not asked to sign in: ${reason}`);
  }
}

/** Whether a thrown value is an {@link UntrustedChallengeError}. */
export function isUntrustedChallenge(value: unknown): value is UntrustedChallengeError {
  return typeof value === 'object' && value !== null && MARKER in value;
}

/** A challenge in the service's form. */
export interface ReadChallenge {
  /** Unix seconds. */
  readonly issuedAt: number;
  /** Its random part. */
  readonly nonce: string;
}

/**
 * Reads a challenge. A wallet signs no text of another form: a service could pass on a text with another meaning.
 *
 * @throws UntrustedChallengeError
 */
export function readChallenge(challenge: string): ReadChallenge {
  const [, seconds, nonce] = FORM.exec(challenge) ?? [];
  if (seconds === undefined || nonce === undefined) {
    throw new UntrustedChallengeError('the text from the service does not have the form of a challenge.');
  }
  const issuedAt = Number(seconds);
  if (Math.abs(Date.now() / 1000 - issuedAt) > CLOCK_SKEW_SECONDS) {
    const time = new Date(issuedAt * 1000);
    const when = Number.isNaN(time.getTime()) ? 'no time at all' : time.toISOString();
    throw new UntrustedChallengeError(
      `the challenge is of ${when}, more than ${CLOCK_SKEW_SECONDS} seconds from this machine's clock.`,
    );
  }
  return { issuedAt, nonce };
}
