import {
  operations,
  type ApiKey,
  type Credential,
  type Creator,
  type CredentialVerification,
  type Earnings,
  type ExecuteBody,
  type Job,
  type Listing,
  type ListingPage,
  type Operation,
  type Review,
  type Run,
  type RunEvent,
  type TransactionProposal,
  type TransactionRequest,
} from '@agent-rental/contract';
import type { z } from 'zod';
import { sendRequest, type HttpOptions, type RequestInput } from './http.js';
import { apiKeyAuthentication, walletAuthentication, type MessageSigner } from './login.js';
import { readRunEvents } from './run-events.js';

/** How to reach the marketplace, and as whom. */
export interface ClientOptions {
  /** For instance `http://127.0.0.1:8787`. */
  baseUrl: string;
  /** API key. Never put one into code that runs in a browser. */
  apiKey?: string;
  /** Wallet that logs in by signing a challenge; used when there is no API key. */
  signer?: MessageSigner;
  /** Replaces the global `fetch`. */
  fetch?: typeof fetch;
  /** Tries after the first, for requests that may be repeated. Default 2. */
  retries?: number;
}

/** Options of one call. */
export interface CallOptions {
  signal?: AbortSignal | undefined;
}

/** Options of a run. */
export interface ExecuteOptions extends CallOptions {
  /**
   * Two requests with the same key are one run, paid once. By default every call gets a key of its own, so
   * that the retries inside the call are one run and two calls are two.
   */
  idempotencyKey?: string | undefined;
}

type Query<O extends { query?: z.ZodType }> = z.input<NonNullable<O['query']>>;

/** The marketplace's API, for renters and creators. Every method throws `ApiError` or `ConnectionError`. */
export interface RentalClient {
  readonly baseUrl: string;
  searchListings(
    query?: Query<typeof operations.searchListings>,
    options?: CallOptions,
  ): Promise<ListingPage>;
  getListing(id: string, options?: CallOptions): Promise<Listing>;
  /** Reviews a listing that the caller has run; a second review replaces the first. */
  createReview(
    listingId: string,
    body: z.input<typeof operations.createReview.body>,
    options?: CallOptions,
  ): Promise<Review>;
  listReviews(
    listingId: string,
    query?: Query<typeof operations.listReviews>,
    options?: CallOptions,
  ): Promise<{ reviews: Review[]; total: number; limit: number; offset: number }>;
  /** Sets the caller's name as a creator; null goes back to the shortened wallet. */
  updateCreator(body: z.input<typeof operations.updateCreator.body>, options?: CallOptions): Promise<Creator>;
  listCredentials(
    query?: Query<typeof operations.listCredentials>,
    options?: CallOptions,
  ): Promise<{ credentials: Credential[]; total: number }>;
  verifyCredential(listingId: string, options?: CallOptions): Promise<CredentialVerification>;
  registerAgent(
    body: z.input<typeof operations.registerAgent.body>,
    options?: CallOptions,
  ): Promise<z.output<typeof operations.registerAgent.response>>;
  /** Changes fields of an own agent's manifest; null takes one away. The new version runs once its job has completed. */
  updateAgent(
    listingId: string,
    changes: z.input<typeof operations.updateAgent.body>,
    options?: CallOptions,
  ): Promise<z.output<typeof operations.updateAgent.response>>;
  /** Replaces the model vendor's key of an own listing. No answer ever shows it. */
  setModelKey(
    listingId: string,
    modelKey: string,
    options?: CallOptions,
  ): Promise<z.output<typeof operations.setModelKey.response>>;
  /** Replaces the webhook secret of an own connected agent. The new one is in the answer and is never shown again. */
  rotateWebhookSecret(
    listingId: string,
    options?: CallOptions,
  ): Promise<z.output<typeof operations.rotateWebhookSecret.response>>;
  /** What the caller's listings earn, in lamports and SOL. */
  getEarnings(query?: Query<typeof operations.getEarnings>, options?: CallOptions): Promise<Earnings>;
  getJob(jobId: string, options?: CallOptions): Promise<Job>;
  createApiKey(
    body: z.input<typeof operations.createApiKey.body>,
    options?: CallOptions,
  ): Promise<z.output<typeof operations.createApiKey.response>>;
  /** The wallet's keys that work, newest first. Needs a wallet's login, as all of key management does. */
  listApiKeys(options?: CallOptions): Promise<{ api_keys: ApiKey[] }>;
  /** Ends a key: the next request with it is refused. */
  revokeApiKey(keyId: string, options?: CallOptions): Promise<ApiKey>;
  getChallenge(
    wallet: string,
    options?: CallOptions,
  ): Promise<z.output<typeof operations.getChallenge.response>>;
  createTransaction(request: TransactionRequest, options?: CallOptions): Promise<TransactionProposal>;
  submitTransaction(
    transaction: string,
    options?: CallOptions,
  ): Promise<z.output<typeof operations.submitTransaction.response>>;
  /** Runs a task and waits for its end. A `failed` run is a value, not an error. */
  execute(body: ExecuteBody, options?: ExecuteOptions): Promise<Run>;
  /** Runs a task and yields its output as it is made; the last event is `done`. */
  executeStream(body: ExecuteBody, options?: ExecuteOptions): AsyncGenerator<RunEvent, void, undefined>;
  getRun(runId: string, options?: CallOptions): Promise<Run>;
}

/** Makes a client of the marketplace's API. */
export function createClient(options: ClientOptions): RentalClient {
  const baseUrl = options.baseUrl.replace(/\/+$/, '');
  const doFetch: typeof fetch = options.fetch ?? ((input, init) => globalThis.fetch(input, init));
  const authentication = options.apiKey
    ? apiKeyAuthentication(options.apiKey)
    : options.signer
      ? walletAuthentication(options.signer, { baseUrl, fetch: doFetch })
      : undefined;
  if (authentication === undefined) throw new TypeError('A client needs an apiKey or a signer.');
  if (options.apiKey && 'document' in globalThis) {
    // oxlint-disable-next-line no-console
    console.warn('@agent-rental/sdk: an API key in a browser can be read by everyone. Use a signer.');
  }
  const http: HttpOptions = { baseUrl, fetch: doFetch, authentication, retries: options.retries ?? 2 };

  async function call<O extends Operation>(
    operation: O,
    input: RequestInput,
  ): Promise<z.output<O['response']>> {
    return sendRequest(
      http,
      operation,
      input,
      async (response) => operation.response.parse(await response.json()) as z.output<O['response']>,
    );
  }
  const runInput = (body: ExecuteBody, given: ExecuteOptions): RequestInput => ({
    body,
    headers: { 'idempotency-key': given.idempotencyKey ?? crypto.randomUUID() },
    repeatable: true,
    ...given,
  });

  return {
    baseUrl,
    searchListings: (query = {}, given = {}) =>
      call(operations.searchListings, { query: plain(query), ...given }),
    getListing: (id, given = {}) => call(operations.getListing, { params: { id }, ...given }),
    createReview: (id, body, given = {}) =>
      call(operations.createReview, { params: { id }, body, repeatable: true, ...given }),
    listReviews: (id, query = {}, given = {}) =>
      call(operations.listReviews, { params: { id }, query: plain(query), ...given }),
    updateCreator: (body, given = {}) => call(operations.updateCreator, { body, repeatable: true, ...given }),
    listCredentials: (query = {}, given = {}) =>
      call(operations.listCredentials, { query: plain(query), ...given }),
    verifyCredential: (listing_id, given = {}) =>
      call(operations.verifyCredential, { params: { listing_id }, ...given }),
    registerAgent: (body, given = {}) => call(operations.registerAgent, { body, ...given }),
    updateAgent: (listing_id, body, given = {}) =>
      call(operations.updateAgent, { params: { listing_id }, body, ...given }),
    setModelKey: (id, model_key, given = {}) =>
      call(operations.setModelKey, { params: { id }, body: { model_key }, repeatable: true, ...given }),
    rotateWebhookSecret: (id, given = {}) =>
      call(operations.rotateWebhookSecret, { params: { id }, ...given }),
    getEarnings: (query = {}, given = {}) => call(operations.getEarnings, { query: plain(query), ...given }),
    getJob: (job_id, given = {}) => call(operations.getJob, { params: { job_id }, ...given }),
    createApiKey: (body, given = {}) => call(operations.createApiKey, { body, ...given }),
    listApiKeys: (given = {}) => call(operations.listApiKeys, given),
    // Ending a key twice ends it once.
    revokeApiKey: (key_id, given = {}) =>
      call(operations.revokeApiKey, { params: { key_id }, repeatable: true, ...given }),
    getChallenge: (wallet, given = {}) => call(operations.getChallenge, { query: { wallet }, ...given }),
    createTransaction: (body, given = {}) =>
      call(operations.createTransaction, { body, repeatable: true, ...given }),
    // A signed transaction lands at most once, however often it is sent.
    submitTransaction: (transaction, given = {}) =>
      call(operations.submitTransaction, { body: { transaction }, repeatable: true, ...given }),
    execute: (body, given = {}) => call(operations.execute, runInput(body, given)),
    executeStream: async function* (body, given = {}) {
      const input = runInput(body, given);
      const response = await sendRequest(http, operations.executeStream, input, (begun) => begun);
      yield* readRunEvents(response, given.signal);
    },
    getRun: (run_id, given = {}) => call(operations.getRun, { params: { run_id }, ...given }),
  };
}

/** Query values as strings and numbers; the contract's coercing schemas leave them `unknown`. */
function plain(query: Record<string, unknown>): Record<string, string | number | undefined> {
  return query as Record<string, string | number | undefined>;
}
