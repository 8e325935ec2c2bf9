/** A refusal of a request. */
export interface Refusal {
  /** The cause, for every reader. */
  readonly reason: string;
  /** The next step of a caller over HTTP. */
  readonly next?: string | undefined;
}

/**
 * The texts with which the service refuses a run. The server and the tests' stand-in share them, so that a model reads the
 * same text in a test.
 */
export const REFUSAL_TEXT = {
  invalidApiKey: { reason: 'The API key is not valid or was revoked.' },
  noSuchListing: { reason: 'There is no such listing.', next: 'Search with GET /v1/listings.' },
  listingPaused: { reason: 'The listing is paused; it runs no tasks at the moment.' },
  listingSuspended: (operatorsReason: string | undefined) => ({
    reason: `The operator of the marketplace has suspended the listing${operatorsReason === undefined ? '' : `: ${operatorsReason}`}`,
    next: 'A prepaid balance comes back at once by POST /v1/transactions with the action reclaim.',
  }),
  listingClosed: { reason: 'The listing is closed.' },
  notRented: (listingId: string) => ({
    reason: `This wallet has not rented ${listingId}.`,
    next: 'Rent it with POST /v1/transactions.',
  }),
  trialUsed: (listingId: string) => ({
    reason: `This wallet has not rented ${listingId}, and has had its free run.`,
    next: 'Rent it with POST /v1/transactions.',
  }),
  trialWithoutSubstance: (holdMinutes: number) => ({
    reason:
      holdMinutes === 0
        ? 'A free run needs a wallet that has rented an agent or holds 0.05 SOL. This wallet meets neither condition.'
        : `A free run needs a wallet that has rented an agent, or has held 0.05 SOL for ${holdMinutes} minutes.`,
    next:
      holdMinutes === 0
        ? 'Fund the wallet, or rent the agent with POST /v1/transactions.'
        : 'Keep the SOL in the wallet and try again after that time, or rent the agent with POST /v1/transactions.',
  }),
  trialOfBusyWallet: (holdMinutes: number) => ({
    reason: `A free run needs a wallet with at most 20 transactions in ${holdMinutes} minutes. This wallet has more.`,
    next: 'Try again after that time, or rent the agent with POST /v1/transactions.',
  }),
  trialForRenters: (listingId: string) => ({
    reason: `The first run of ${listingId} is free for wallets that have rented an agent of another creator.`,
    next: 'Rent it with POST /v1/transactions.',
  }),
  subscriptionExpired: { reason: 'The subscription has expired.', next: 'Renew it to go on.' },
  lowBalance: (priceLamports: bigint) => ({
    reason: `The prepaid balance cannot pay the next run, which costs ${priceLamports} lamports.`,
    next: 'Top it up.',
  }),
  priceAboveAgreed: (priceLamports: bigint, agreedLamports: bigint) => ({
    reason: `A run costs ${priceLamports} lamports now, more than the agreed price of ${agreedLamports} lamports.`,
    next: 'Top up to agree to the new price. If the balance is high enough, use an amount of 0.',
  }),
  chargePending: (runId: string) => ({
    reason: 'The charge was not confirmed in time; it is settled in the background.',
    next: `GET /v1/runs/${runId} gives the result once the charge is confirmed.`,
  }),
} as const satisfies Record<string, Refusal | ((...args: never[]) => Refusal)>;

/** A refusal as one text, for callers over HTTP. */
export function refusalMessage({ reason, next }: Refusal): string {
  return next === undefined ? reason : `${reason} ${next}`;
}
