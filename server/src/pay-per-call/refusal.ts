/** MPP's names of problems, by which its clients tell them apart. */
export type Problem =
  | 'payment-required'
  | 'malformed-credential'
  | 'invalid-challenge'
  | 'payment-expired'
  | 'payment-insufficient'
  | 'verification-failed';

/** A payment that is not taken. Nothing was sent, so the caller may pay anew. */
export class PaymentRefusal extends Error {
  override readonly name = 'PaymentRefusal';
  readonly problem: Problem;
  /** The word of x402 for it. */
  readonly reason: string;

  constructor(
    problem: Problem,
    message: string,
    { cause, reason }: { cause?: unknown; reason?: string } = {},
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.problem = problem;
    this.reason = reason ?? problem.replaceAll('-', '_');
  }
}
