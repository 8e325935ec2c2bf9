/** Why something is refused. */
export interface Refusal {
  /** What happened, for every reader. */
  readonly reason: string;
  /** What a caller over HTTP does next. */
  readonly next?: string | undefined;
}

/**
 * The words in which the service refuses a run. The server sends them and the stand-in of the tests repeats them, so that
 * a test of what a model reads shows what the service says.
 */
export const REFUSAL_TEXT = {
  invalidApiKey: { reason: 'The API key is not valid or was revoked.' },
  noSuchListing: { reason: 'There is no such listing.', next: 'Search with GET /v1/listings.' },
  listingPaused: { reason: 'The listing is paused; it runs no tasks at the moment.' },
  listingClosed: { reason: 'The listing is closed.' },
  notRented: (listingId: string) => ({
    reason: `This wallet has not rented ${listingId}.`,
    next: 'Rent it with POST /v1/transactions.',
  }),
  trialUsed: (listingId: string) => ({
    reason: `This wallet has not rented ${listingId}, and has had its free run.`,
    next: 'Rent it with POST /v1/transactions.',
  }),
  trialWithoutSubstance: {
    reason:
      'A free run is for wallets that have rented an agent or hold 0.05 SOL; this one has not and does not.',
    next: 'Fund the wallet, or rent the agent with POST /v1/transactions.',
  },
  subscriptionExpired: { reason: 'The subscription has expired.', next: 'Renew it to go on.' },
  lowBalance: (priceLamports: bigint) => ({
    reason: `The prepaid balance cannot pay the next run, which costs ${priceLamports} lamports.`,
    next: 'Top it up.',
  }),
  priceAboveAgreed: (priceLamports: bigint, agreedLamports: bigint) => ({
    reason: `A run costs ${priceLamports} lamports now, more than the ${agreedLamports} lamports that were agreed to.`,
    next: 'Top up to agree to the new price; an amount of 0 is enough where the balance is.',
  }),
  chargePending: (runId: string) => ({
    reason: 'The charge was not confirmed in time; it is settled in the background.',
    next: `GET /v1/runs/${runId} gives the result once it is.`,
  }),
} as const satisfies Record<string, Refusal | ((...args: never[]) => Refusal)>;

/** A refusal as one text, for callers over HTTP. */
export function refusalMessage({ reason, next }: Refusal): string {
  return next === undefined ? reason : `${reason} ${next}`;
}
