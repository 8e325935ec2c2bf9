const MARKER = Symbol.for('agent-rental.untrusted-challenge');

/** How far this machine's clock and the service's may be apart. */
const CLOCK_SKEW_SECONDS = 300;
/** A service prefix, an auth literal, the time in Unix seconds, and 32 random bytes. */
const FORM = /^agent-rental:auth:(\d{1,12}):([0-9a-f]{64})$/;

/**
 * The text that a service asks a wallet to sign is no present login to that service. Nothing was signed. Recognise it with
 * {@link isUntrustedChallenge}, which holds across copies of this package.
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

/** A challenge of the service's own form. */
export interface ReadChallenge {
  /** Unix seconds. */
  readonly issuedAt: number;
  /** Its random part. */
  readonly nonce: string;
}

/**
 * Reads a challenge. A wallet signs none of another form: a service could pass on a text that means something else.
 *
 * @throws UntrustedChallengeError
 */
export function readChallenge(challenge: string): ReadChallenge {
  const [, seconds, nonce] = FORM.exec(challenge) ?? [];
  if (seconds === undefined || nonce === undefined) {
    throw new UntrustedChallengeError('what the service gave to sign does not have the form of a challenge.');
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
