/**
 * The words in which the service refuses a run. The server sends them and the stand-in of the tests repeats them, so that
 * a test of what a model reads shows what the service says.
 */
export const REFUSAL_TEXT = {
  invalidApiKey: 'The API key is not valid or was revoked.',
  noSuchListing: 'There is no such listing. Search with GET /v1/listings.',
  listingPaused: 'The listing is paused; it runs no tasks at the moment.',
  listingClosed: 'The listing is closed.',
  notRented: (listingId: string) =>
    `This wallet has not rented ${listingId}. Rent it with POST /v1/transactions.`,
  subscriptionExpired: 'The subscription has expired. Renew it to go on.',
  lowBalance: (priceLamports: bigint) =>
    `The prepaid balance cannot pay the next run, which costs ${priceLamports} lamports. Top it up.`,
  priceAboveAgreed: (priceLamports: bigint, agreedLamports: bigint) =>
    `A run costs ${priceLamports} lamports now, more than the ${agreedLamports} lamports that were agreed to. ` +
    'Top up to agree to the new price; an amount of 0 is enough where the balance is.',
  chargePending: (runId: string) =>
    `The charge was not confirmed in time; it is settled in the background. GET /v1/runs/${runId} gives the ` +
    'result once it is.',
} as const;
