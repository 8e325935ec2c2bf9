import {
  CONFIRMATION_HEADERS,
  MAX_WAIT_SECONDS,
  walletAddress,
  operations,
  type AgentStats,
  type ApiKey,
  type Cancellation,
  type CredentialPage,
  type Creator,
  type CredentialVerification,
  type Earnings,
  type EndedRun,
  type ExecuteBody,
  type Job,
  type Listing,
  type ListingPage,
  type Network,
  type Operation,
  type PinnedVersion,
  type Review,
  type Run,
  type RunEvent,
  type RunningRun,
  type RunState,
  type SignedReceipt,
  type SpendingApproval,
  type StoredFile,
  type TransactionProposal,
  type TransactionRequest,
} from '@agent-rental/contract';
import type { z } from 'zod';
import { createDeadline } from './deadline.js';
import { ConnectionError } from './errors.js';
import { sendRequest, type HttpOptions, type RequestInput } from './http.js';
import { apiKeyAuthentication, walletAuthentication, type LoginStore, type MessageSigner } from './login.js';
import { readRunEvents } from './run-events.js';

/** How to reach the marketplace, and as whom. */
export interface ClientOptions {
  /** For instance `http://127.0.0.1:8787`. */
  baseUrl: string;
  /** API key. Never put one into code that runs in a browser. */
  apiKey?: string;
  /** Wallet that logs in by signing; used when there is no API key. */
  signer?: MessageSigner;
  /** Keeps the signer's login for other clients. Default: it is this client's alone. */
  loginStore?: LoginStore | undefined;
  /**
   * Where the marketplace says that it is, host and port, for instance `market.example`: a wallet signs in to that and
   * to nothing else. Default: the host of `baseUrl`. Needed where `baseUrl` is another way to it.
   */
  domain?: string | undefined;
  /**
   * Address of the marketplace program in base58, where it is not the published default: wallets sign transactions of this
   * program alone. Know it from the marketplace's operator; the word of the service does not count.
   */
  programId?: string | undefined;
  /** Replaces the global `fetch`. */
  fetch?: typeof fetch;
  /** Tries after the first, for requests that may be repeated. Default 2. */
  retries?: number;
}

/** Options of one call. */
export interface CallOptions {
  signal?: AbortSignal | undefined;
}

/** Options of a change of where renters' data goes: an endpoint, a model, a key or a secret. */
export interface ConfirmedOptions extends CallOptions {
  /** The wallet's signature over the change; the functions of `@agent-rental/sdk/solana` make it. */
  confirmation?: { challenge: string; signature: string } | undefined;
}

/** Options of a run. */
export interface ExecuteOptions extends CallOptions {
  /**
   * Two requests with the same key are one run, paid once. By default every call gets another key, so
   * that the retries inside the call are one run and two calls are two.
   */
  idempotencyKey?: string | undefined;
  /**
   * Frees the key this many seconds after its run ended, at most 3600: a later request with the key is another run. Then an
   * abort does not cancel the run, because a request with the same key may still want it. Default: the key is never free again.
   */
  keyWindowSeconds?: number | undefined;
  /**
   * Ends the wait, as `signal` does, without cancelling the run: to the service the caller went away. The run has its
   * grace, and who asks again under the key gets its answer.
   */
  leave?: AbortSignal | undefined;
  /** Of a stream: gets the run's id when the stream starts. */
  onRunId?: ((runId: string) => void) | undefined;
}

/** Options of a call that may wait. */
interface WaitOptions extends CallOptions {
  /** Seconds that the service waits for the end of the run, or for the answer, at most 60. Default 0. */
  waitSeconds?: number | undefined;
}

type Query<O extends { query?: z.ZodType }> = z.input<NonNullable<O['query']>>;

/** The marketplace's API, for renters and creators. Every method throws `ApiError` or `ConnectionError`. */
export interface RentalClient {
  readonly baseUrl: string;
  /** Host and port that messages for this marketplace name when a wallet signs them. */
  readonly domain: string;
  /** Address of the marketplace program, where the client was made for another than the published default. */
  readonly programId?: string | undefined;
  /** The chain and the program that the service says it uses. */
  getNetwork(options?: CallOptions): Promise<Network>;
  searchListings(
    query?: Query<typeof operations.searchListings>,
    options?: CallOptions,
  ): Promise<ListingPage>;
  /** A listing as its latest version has it, or an earlier one. */
  getListing(id: string, options?: CallOptions & { version?: number | undefined }): Promise<Listing>;
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
  /** A page of the caller's rentals. `cursor: next_cursor` of one page gives the next at the same cost at any place. */
  listCredentials(
    query?: Query<typeof operations.listCredentials>,
    options?: CallOptions,
  ): Promise<CredentialPage>;
  verifyCredential(listingId: string, options?: CallOptions): Promise<CredentialVerification>;
  /**
   * Pins the version that runs of a rental run: for all of the wallet, or with an API key for that key alone. Null runs the
   * latest again.
   */
  pinVersion(listingId: string, version: number | null, options?: CallOptions): Promise<PinnedVersion>;
  registerAgent(
    body: z.input<typeof operations.registerAgent.body>,
    options?: CallOptions,
  ): Promise<z.output<typeof operations.registerAgent.response>>;
  /**
   * Changes fields of an own agent's manifest; null takes one away. The new version runs once its job has completed. What
   * decides where renters' data goes needs a confirmation: see `updateAgent` of `@agent-rental/sdk/solana`.
   */
  updateAgent(
    listingId: string,
    changes: z.input<typeof operations.updateAgent.body>,
    options?: ConfirmedOptions,
  ): Promise<z.output<typeof operations.updateAgent.response>>;
  /** Makes an earlier version of an own agent its next version. Confirmed as `updateAgent` is. */
  rollbackAgent(
    listingId: string,
    version: number,
    options?: ConfirmedOptions,
  ): Promise<z.output<typeof operations.rollbackAgent.response>>;
  /** Deletes an own agent that was never published. */
  deleteAgent(
    listingId: string,
    options?: CallOptions,
  ): Promise<z.output<typeof operations.deleteAgent.response>>;
  /** Replaces the model vendor's key of an own listing. No answer ever shows it. Needs a confirmation. */
  setModelKey(
    listingId: string,
    modelKey: string,
    options?: ConfirmedOptions,
  ): Promise<z.output<typeof operations.setModelKey.response>>;
  /**
   * Replaces the webhook secret of an own connected agent. The new one is in the answer and is never shown again. Needs a
   * confirmation.
   */
  rotateWebhookSecret(
    listingId: string,
    options?: ConfirmedOptions,
  ): Promise<z.output<typeof operations.rotateWebhookSecret.response>>;
  /** The earnings of the caller's listings, in lamports and SOL. */
  getEarnings(query?: Query<typeof operations.getEarnings>, options?: CallOptions): Promise<Earnings>;
  /** The caller's own agents, drafts included, and which of them cannot be reached. */
  listAgents(
    query?: Query<typeof operations.listAgents>,
    options?: CallOptions,
  ): Promise<z.output<typeof operations.listAgents.response>>;
  /** Runs of an own listing, newest first: how they ended and why, without inputs and outputs. */
  listAgentRuns(
    listingId: string,
    query?: Query<typeof operations.listAgentRuns>,
    options?: CallOptions,
  ): Promise<z.output<typeof operations.listAgentRuns.response>>;
  /** How runs of an own listing ended within 24 hours, 7 or 30 days, how long they took, and the refused requests. */
  getAgentStats(
    listingId: string,
    query?: Query<typeof operations.getAgentStats>,
    options?: CallOptions,
  ): Promise<AgentStats>;
  getJob(jobId: string, options?: CallOptions): Promise<Job>;
  createApiKey(
    body: z.input<typeof operations.createApiKey.body>,
    options?: CallOptions,
  ): Promise<z.output<typeof operations.createApiKey.response>>;
  /** Connects an app that asked for it by OAuth; `connectApp` of `@agent-rental/sdk/solana` has the wallet sign it. */
  connectApp(
    body: z.input<typeof operations.connectApp.body>,
    options?: CallOptions,
  ): Promise<z.output<typeof operations.connectApp.response>>;
  /** The wallet's keys and connected apps that work, newest first. Needs a wallet's login, as all of key management does. */
  listApiKeys(options?: CallOptions): Promise<{ api_keys: ApiKey[] }>;
  /** Ends a key, or disconnects an app: its next request is refused. */
  revokeApiKey(keyId: string, options?: CallOptions): Promise<ApiKey>;
  /** What API keys of the wallet ask to spend, and wait for an answer. Needs a wallet's login. */
  listApprovals(options?: CallOptions): Promise<{ approvals: SpendingApproval[] }>;
  /** A question of an API key, by `approval.id` of the error that refused it; waits up to `waitSeconds` for its answer. */
  getApproval(approvalId: string, options?: WaitOptions): Promise<SpendingApproval>;
  /** Answers a question. A yes needs the wallet's signature: see `approveSpending` of `@agent-rental/sdk/solana`. */
  answerApproval(
    approvalId: string,
    body: z.input<typeof operations.answerApproval.body>,
    options?: CallOptions,
  ): Promise<SpendingApproval>;
  getChallenge(
    wallet: string,
    options?: CallOptions,
  ): Promise<z.output<typeof operations.getChallenge.response>>;
  createTransaction(request: TransactionRequest, options?: CallOptions): Promise<TransactionProposal>;
  submitTransaction(
    transaction: string,
    options?: CallOptions,
  ): Promise<z.output<typeof operations.submitTransaction.response>>;
  /**
   * Runs a task and waits for its end. A `failed` run is a value, not an error. Aborting `signal` cancels the run.
   */
  execute(body: ExecuteBody, options?: ExecuteOptions): Promise<Run>;
  /**
   * Begins a run and comes back: with its end when it is done within `waitSeconds`, else with its `run_id`. The run
   * goes on; {@link RentalClient.waitForRun} gives its end.
   */
  executeAsync(body: ExecuteBody, options?: ExecuteOptions & WaitOptions): Promise<Run | RunningRun>;
  /**
   * Runs a task and yields its output as it is made; the last event is `done`. Aborting `signal`, or leaving the
   * loop early, cancels the run.
   */
  executeStream(body: ExecuteBody, options?: ExecuteOptions): AsyncGenerator<RunEvent, void, undefined>;
  /** The state of a run; waits up to `waitSeconds` for its end. Results are kept for 24 hours. */
  getRun(runId: string, options?: WaitOptions): Promise<RunState>;
  /** Waits for the end of a run, however long it takes. */
  waitForRun(runId: string, options?: CallOptions): Promise<EndedRun>;
  /** The caller's active rentals as function definitions, for models that are called without an adapter. */
  listTools(
    query?: Query<typeof operations.listTools>,
    options?: CallOptions,
  ): Promise<z.output<typeof operations.listTools.response>>;
  /**
   * Sends a file to be the input of runs, by its `input_uri`. A media type of `application/json` gives the agent that
   * JSON value, any other the text. Private to the wallet, at most 8 MiB, kept for 24 hours.
   */
  uploadFile(
    content: Blob | Uint8Array<ArrayBuffer> | string,
    options: CallOptions & { mediaType: string },
  ): Promise<StoredFile>;
  getFile(fileId: string, options?: CallOptions): Promise<StoredFile>;
  deleteFile(fileId: string, options?: CallOptions): Promise<void>;
  /** The caller's runs, newest first. */
  listRuns(
    query?: Query<typeof operations.listRuns>,
    options?: CallOptions,
  ): Promise<z.output<typeof operations.listRuns.response>>;
  /**
   * What happened in a run, signed by the service. Runs stay on record when their results are gone. `include: 'transaction'`
   * brings what verifies it on-chain, for callers that reach no RPC.
   */
  getReceipt(
    runId: string,
    options?: CallOptions & Query<typeof operations.getReceipt>,
  ): Promise<SignedReceipt>;
  /** Stops a run; gives its result. */
  cancelRun(runId: string, options?: CallOptions): Promise<Cancellation>;
  /** Stops the run of an idempotency key; a request that comes later under the key is refused, uncharged. */
  cancelRunByKey(idempotencyKey: string, options?: CallOptions): Promise<Cancellation>;
}

/** A confirmation goes with its request as headers. */
function confirmed({ confirmation, signal }: ConfirmedOptions): Pick<RequestInput, 'headers' | 'signal'> {
  if (confirmation === undefined) return { signal };
  const { challenge, signature } = confirmation;
  const names = CONFIRMATION_HEADERS;
  return { signal, headers: { [names.challenge]: challenge, [names.signature]: signature } };
}

/** Makes a client of the marketplace's API. @throws TypeError for options that make none. */
export function createClient(options: ClientOptions): RentalClient {
  const baseUrl = options.baseUrl.replace(/\/+$/, '');
  const domain = options.domain ?? new URL(baseUrl).host;
  if (options.programId !== undefined && !walletAddress.safeParse(options.programId).success) {
    throw new TypeError('programId is not the address of a program in base58.');
  }
  const doFetch: typeof fetch = options.fetch ?? ((input, init) => globalThis.fetch(input, init));
  const authentication = options.apiKey
    ? apiKeyAuthentication(options.apiKey)
    : options.signer
      ? walletAuthentication(options.signer, { baseUrl, fetch: doFetch, domain }, options.loginStore)
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
  const runInput = (
    body: ExecuteBody,
    given: ExecuteOptions,
    signal: AbortSignal,
    prefer?: string,
  ): RequestInput => {
    const { idempotencyKey = crypto.randomUUID(), keyWindowSeconds } = given;
    return {
      body,
      headers: {
        'idempotency-key':
          keyWindowSeconds === undefined ? idempotencyKey : `${idempotencyKey};window=${keyWindowSeconds}`,
        ...(prefer === undefined ? {} : { prefer }),
      },
      repeatable: true,
      signal,
    };
  };
  /**
   * Stops the run of a request that its caller no longer wants. It is asked for by the key, so that it is refused
   * when the request has not arrived yet. It is not awaited and its failure is not reported: the service stops
   * runs without a caller after a while by itself.
   */
  const abandon = (input: RequestInput): void => {
    const idempotency_key = input.headers?.['idempotency-key'];
    if (idempotency_key === undefined || idempotency_key.includes(';window=')) return;
    void call(operations.cancelRunByKey, { body: { idempotency_key }, repeatable: true }).catch(
      () => undefined,
    );
  };
  /** An answer, if it is about the requested listing: a decision by it concerns that one. */
  const about = <T>(asked: string, answer: T, listingOf: (answer: T) => string): T => {
    if (listingOf(answer) === asked) return answer;
    throw new ConnectionError(`The marketplace at ${baseUrl} answered about another listing than ${asked}.`);
  };
  /** The end of a run, or that it goes on where the request prefers an asynchronous answer. */
  const execution = (input: RequestInput): Promise<Run | RunningRun> =>
    sendRequest(http, operations.execute, input, async (response) => {
      const schema = response.status === 202 ? operations.execute.accepted : operations.execute.response;
      return schema.parse(await response.json());
    });
  const getRun = (run_id: string, { waitSeconds, signal }: WaitOptions = {}): Promise<RunState> =>
    call(operations.getRun, {
      params: { run_id },
      ...waiting(waitSeconds),
      signal,
    });

  return {
    baseUrl,
    domain,
    programId: options.programId,
    getNetwork: (given = {}) => call(operations.getNetwork, given),
    searchListings: (query = {}, given = {}) =>
      call(operations.searchListings, { query: plain(query), ...given }),
    getListing: async (id, { version, ...given } = {}) =>
      about(
        id,
        await call(operations.getListing, { params: { id }, query: { version }, ...given }),
        ({ id: told }) => told,
      ),
    createReview: (id, body, given = {}) =>
      call(operations.createReview, { params: { id }, body, repeatable: true, ...given }),
    listReviews: (id, query = {}, given = {}) =>
      call(operations.listReviews, { params: { id }, query: plain(query), ...given }),
    updateCreator: (body, given = {}) => call(operations.updateCreator, { body, repeatable: true, ...given }),
    listCredentials: (query = {}, given = {}) =>
      call(operations.listCredentials, { query: plain(query), ...given }),
    verifyCredential: async (id, given = {}) =>
      about(
        id,
        await call(operations.verifyCredential, { params: { listing_id: id }, ...given }),
        ({ listing_id: told }) => told,
      ),
    pinVersion: (listing_id, version, given = {}) =>
      call(operations.pinVersion, {
        params: { listing_id },
        body: { version },
        repeatable: true,
        ...given,
      }),
    registerAgent: (body, given = {}) => call(operations.registerAgent, { body, ...given }),
    updateAgent: (listing_id, body, given = {}) =>
      call(operations.updateAgent, { params: { listing_id }, body, ...confirmed(given) }),
    rollbackAgent: (listing_id, version, given = {}) =>
      call(operations.rollbackAgent, { params: { listing_id }, body: { version }, ...confirmed(given) }),
    // Once it is deleted it is not found: no repetition.
    deleteAgent: (listing_id, given = {}) =>
      call(operations.deleteAgent, { params: { listing_id }, ...given }),
    // A confirmation counts once: no repetition either.
    setModelKey: (id, model_key, given = {}) =>
      call(operations.setModelKey, { params: { id }, body: { model_key }, ...confirmed(given) }),
    rotateWebhookSecret: (id, given = {}) =>
      call(operations.rotateWebhookSecret, { params: { id }, ...confirmed(given) }),
    getEarnings: (query = {}, given = {}) => call(operations.getEarnings, { query: plain(query), ...given }),
    listAgents: (query = {}, given = {}) => call(operations.listAgents, { query: plain(query), ...given }),
    listAgentRuns: (listing_id, query = {}, given = {}) =>
      call(operations.listAgentRuns, { params: { listing_id }, query: plain(query), ...given }),
    getAgentStats: (listing_id, query = {}, given = {}) =>
      call(operations.getAgentStats, { params: { listing_id }, query: plain(query), ...given }),
    getJob: (job_id, given = {}) => call(operations.getJob, { params: { job_id }, ...given }),
    createApiKey: (body, given = {}) => call(operations.createApiKey, { body, ...given }),
    connectApp: (body, given = {}) => call(operations.connectApp, { body, ...given }),
    listApiKeys: (given = {}) => call(operations.listApiKeys, given),
    // Ending a key twice ends it once.
    revokeApiKey: (key_id, given = {}) =>
      call(operations.revokeApiKey, { params: { key_id }, repeatable: true, ...given }),
    listApprovals: (given = {}) => call(operations.listApprovals, given),
    getApproval: (approval_id, { waitSeconds, signal } = {}) =>
      call(operations.getApproval, { params: { approval_id }, ...waiting(waitSeconds), signal }),
    // A confirmation counts once: no repetition.
    answerApproval: (approval_id, body, given = {}) =>
      call(operations.answerApproval, { params: { approval_id }, body, ...given }),
    getChallenge: (wallet, given = {}) => call(operations.getChallenge, { query: { wallet }, ...given }),
    createTransaction: (body, given = {}) =>
      call(operations.createTransaction, { body, repeatable: true, ...given }),
    // A signed transaction lands at most once, however often it is sent.
    submitTransaction: (transaction, given = {}) =>
      call(operations.submitTransaction, { body: { transaction }, repeatable: true, ...given }),
    execute: async (body, given = {}) => {
      const wait = createDeadline(undefined, given.signal, given.leave);
      const input = runInput(body, given, wait.signal);
      try {
        return (await execution(input)) as Run;
      } finally {
        wait.clear();
        if (given.signal?.aborted) abandon(input);
      }
    },
    executeAsync: async (body, { waitSeconds = 0, ...given } = {}) => {
      const wait = createDeadline(undefined, given.signal, given.leave);
      const input = runInput(body, given, wait.signal, `respond-async, wait=${waitSeconds}`);
      try {
        return await execution(input);
      } finally {
        wait.clear();
      }
    },
    executeStream: async function* (body, given = {}) {
      const wait = createDeadline(undefined, given.signal, given.leave);
      const input = runInput(body, given, wait.signal);
      let isDone = false;
      try {
        const response = await sendRequest(http, operations.executeStream, input, (started) => started);
        const runId = response.headers.get('x-run-id');
        if (runId !== null) given.onRunId?.(runId);
        for await (const event of readRunEvents(response, input.signal)) {
          isDone = event.event === 'done';
          yield event;
        }
      } catch (error) {
        // A stream that broke is not one that was left: the same key gives the run's answer.
        isDone = !given.signal?.aborted;
        throw error;
      } finally {
        wait.clear();
        if (!isDone) abandon(input);
      }
    },
    getRun,
    waitForRun: async (runId, given = {}) => {
      for (;;) {
        const state = await getRun(runId, { ...given, waitSeconds: MAX_WAIT_SECONDS });
        if (state.status !== 'running') return state;
      }
    },
    listTools: (query = {}, given = {}) => call(operations.listTools, { query: plain(query), ...given }),
    uploadFile: (upload, { mediaType, ...given }) =>
      call(operations.createFile, { upload, headers: { 'content-type': mediaType }, ...given }),
    getFile: (file_id, given = {}) => call(operations.getFile, { params: { file_id }, ...given }),
    deleteFile: async (file_id, given = {}) => {
      await call(operations.deleteFile, { params: { file_id }, ...given });
    },
    listRuns: (query = {}, given = {}) => call(operations.listRuns, { query: plain(query), ...given }),
    getReceipt: (run_id, { include, signal } = {}) =>
      call(operations.getReceipt, { params: { run_id }, query: { include }, signal }),
    cancelRun: (run_id, given = {}) =>
      call(operations.cancelRun, { params: { run_id }, repeatable: true, ...given }),
    cancelRunByKey: (idempotency_key, given = {}) =>
      call(operations.cancelRunByKey, { body: { idempotency_key }, repeatable: true, ...given }),
  };
}

/** Asks for an answer that waits. */
function waiting(seconds: number | undefined): Pick<RequestInput, 'headers'> {
  return seconds === undefined ? {} : { headers: { prefer: `wait=${seconds}` } };
}

/** Query values as strings and numbers; the contract's coercing schemas leave them `unknown`. */
function plain(query: Record<string, unknown>): Record<string, string | number | undefined> {
  return query as Record<string, string | number | undefined>;
}
