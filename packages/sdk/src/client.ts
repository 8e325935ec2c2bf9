import {
  createDeadline,
  jwks,
  serviceEndpoints,
  CONFIRMATION_HEADERS,
  MAX_WAIT_SECONDS,
  SKILL_PATH,
  walletAddress,
  operations,
  type AgentStats,
  type AgentsStats,
  type ApiKey,
  type Cancellation,
  type CredentialPage,
  type Creator,
  type CredentialVerification,
  type Earnings,
  type EmailSettings,
  type EventSettings,
  type EndedRun,
  type EventName,
  type ExecuteBody,
  type Job,
  type Jwks,
  type Listing,
  type ListingPage,
  type Network,
  type Operation,
  type OperatorDecision,
  type PinnedVersion,
  type Report,
  type Review,
  type ReviewPage,
  type Run,
  type RunEvent,
  type RunningRun,
  type RunState,
  type SignedReceipt,
  type Spending,
  type SpendingApproval,
  type StoredFile,
  type TransactionProposal,
  type TransactionRequest,
  type Webhook,
  type WebhookAttempt,
  type WebhookDelivery,
} from '@agent-rental/contract';
import type { z } from 'zod';
import { createCallPayments, type CallPayer } from './call-payments.js';
import { ConnectionError } from './errors.js';
import { sendRequest, type HttpOptions, type RequestInput, type Target } from './http.js';
import { apiKeyAuthentication, walletAuthentication, type LoginStore, type MessageSigner } from './login.js';
import { readRunEvents } from './run-events.js';
import { followEvents, type EventsOptions, type HeardEvent } from './wallet-events.js';

/** The marketplace's address, the login and the behaviour of a client. */
export interface ClientOptions {
  /** For instance `http://127.0.0.1:8787`. */
  baseUrl: string;
  /** API key. Never put one into code that runs in a browser. */
  apiKey?: string;
  /** Wallet that logs in by a signature; used without an API key. */
  signer?: MessageSigner;
  /**
   * Pays for single runs of Per-Task listings that the caller has not rented: `callPayer` of `@agent-rental/sdk/solana`. Then
   * neither a key nor a signer is needed. The payment reads its run, which belongs to the payer's wallet.
   */
  payPerCall?: CallPayer | undefined;
  /** Keeps the signer's login for other clients. Default: only this client uses the login. */
  loginStore?: LoginStore | undefined;
  /**
   * The marketplace's host and port, for instance `market.example`. A wallet signs in to this host only. Default: the host
   * of `baseUrl`. Set it if `baseUrl` has another host, for instance a proxy.
   */
  domain?: string | undefined;
  /**
   * Address of the marketplace program in base58. Default: the published program. Wallets sign transactions of this program
   * only. Get the address from the marketplace's operator: the service's answer is no proof.
   */
  programId?: string | undefined;
  /** Replaces the global `fetch`. */
  fetch?: typeof fetch;
  /** Retries of a repeatable request. Default 2. */
  retries?: number;
}

/** Options of one call. */
export interface CallOptions {
  signal?: AbortSignal | undefined;
}

/** Options of a change to the destination of renters' data: an endpoint, a model, a key or a secret. */
export interface ConfirmedOptions extends CallOptions {
  /** The wallet's signature over the change; the functions of `@agent-rental/sdk/solana` make it. */
  confirmation?: { challenge: string; signature: string } | undefined;
}

/** Options of a run. */
export interface ExecuteOptions extends CallOptions {
  /**
   * Two requests with the same key are one run, paid once. By default every call has a new key: its retries share one
   * run, and two calls are two runs.
   */
  idempotencyKey?: string | undefined;
  /**
   * Seconds after the end of the run when the key is free again, at most 3600. A later request with the key is another run.
   * With this option an abort does not cancel the run, because a request with the same key may still need it.
   * Default: the key is never free again.
   */
  keyWindowSeconds?: number | undefined;
  /**
   * Ends the wait, as `signal` does, without cancelling the run. The service sees a lost caller and lets the run go on for
   * a grace period. A caller that sends the key again gets the run's answer.
   */
  leave?: AbortSignal | undefined;
  /** Gets the run's id when a stream starts. */
  onRunId?: ((runId: string) => void) | undefined;
}

/** Options of a call with a wait. */
interface WaitOptions extends CallOptions {
  /** Seconds that the service waits for the end of the run, or for the answer, at most 60. Default 0. */
  waitSeconds?: number | undefined;
}

type Operations = typeof operations;
type Query<O extends keyof Operations> = Operations[O] extends { query: infer Q } ? z.input<Q> : never;
type Body<O extends keyof Operations> = Operations[O] extends { body: infer B } ? z.input<B> : never;
type Answer<O extends keyof Operations> = z.output<Operations[O]['response']>;

/** The marketplace's API, for renters and creators. Every method throws `ApiError` or `ConnectionError`. */
export interface RentalClient {
  readonly baseUrl: string;
  /** Host and port that messages for this marketplace name when a wallet signs them. */
  readonly domain: string;
  /** Address of the marketplace program, if it differs from the published default. */
  readonly programId?: string | undefined;
  /** The service's chain and program, as the service names them. */
  getNetwork(options?: CallOptions): Promise<Network>;
  searchListings(query?: Query<'searchListings'>, options?: CallOptions): Promise<ListingPage>;
  /** A listing in its latest version, or in an earlier one. */
  getListing(id: string, options?: CallOptions & { version?: number | undefined }): Promise<Listing>;
  /** The public keys that verify receipts (RFC 7517). */
  getReceiptKeys(options?: CallOptions): Promise<Jwks>;
  /** A skill as Markdown: one of the marketplace, or the one of a listing on sale, whose name is its id. */
  getSkill(name: string, options?: CallOptions): Promise<string>;
  /** The latest versions of a listing, the newest first. */
  listVersions(listingId: string, options?: CallOptions): Promise<Answer<'listVersions'>>;
  /** Reviews a listing that the caller has run; a second review replaces the first. */
  createReview(listingId: string, body: Body<'createReview'>, options?: CallOptions): Promise<Review>;
  /** Reports a listing to the operator; a second report replaces the first while it is open. */
  createReport(listingId: string, body: Body<'createReport'>, options?: CallOptions): Promise<Report>;
  listReviews(listingId: string, query?: Query<'listReviews'>, options?: CallOptions): Promise<ReviewPage>;
  /** Answers a review of an own listing, in place of an earlier answer. The reviewer is a wallet. */
  answerReview(listingId: string, reviewer: string, text: string, options?: CallOptions): Promise<Review>;
  /** Removes the answer to a review of an own listing; without an answer it changes nothing. */
  deleteReviewAnswer(listingId: string, reviewer: string, options?: CallOptions): Promise<Review>;
  /** Sets the caller's name as a creator; null restores the shortened wallet address. */
  updateCreator(body: Body<'updateCreator'>, options?: CallOptions): Promise<Creator>;
  /** A page of the caller's rentals. Pass `next_cursor` of a page as `cursor` to get the next page. */
  listCredentials(query?: Query<'listCredentials'>, options?: CallOptions): Promise<CredentialPage>;
  verifyCredential(listingId: string, options?: CallOptions): Promise<CredentialVerification>;
  /**
   * Pins a version for the runs of a rental: for the whole wallet, or with an API key for that key only. Null removes the
   * pin, and runs use the latest version again.
   */
  pinVersion(listingId: string, version: number | null, options?: CallOptions): Promise<PinnedVersion>;
  registerAgent(body: Body<'registerAgent'>, options?: CallOptions): Promise<Answer<'registerAgent'>>;
  /**
   * Changes fields of an own agent's manifest; null removes a field. The new version runs after its job has completed. A
   * change to the destination of renters' data needs a confirmation: see `updateAgent` of `@agent-rental/sdk/solana`.
   */
  updateAgent(
    listingId: string,
    changes: Body<'updateAgent'>,
    options?: ConfirmedOptions,
  ): Promise<Answer<'updateAgent'>>;
  /** Makes an earlier version of an own agent its next version. Needs the same confirmation as `updateAgent`. */
  rollbackAgent(
    listingId: string,
    version: number,
    options?: ConfirmedOptions,
  ): Promise<Answer<'rollbackAgent'>>;
  /** Deletes an own agent that was never published. */
  deleteAgent(listingId: string, options?: CallOptions): Promise<Answer<'deleteAgent'>>;
  /** Replaces the model vendor's key of an own listing. No answer ever shows it. Needs a confirmation. */
  setModelKey(
    listingId: string,
    modelKey: string,
    options?: ConfirmedOptions,
  ): Promise<Answer<'setModelKey'>>;
  /**
   * Replaces the webhook secret of an own connected agent. Only this answer shows the new secret. Needs a confirmation.
   */
  rotateWebhookSecret(listingId: string, options?: ConfirmedOptions): Promise<Answer<'rotateWebhookSecret'>>;
  /** The earnings of the caller's listings, in lamports and SOL. */
  getEarnings(query?: Query<'getEarnings'>, options?: CallOptions): Promise<Earnings>;
  /** For the operator's wallets: runs, earnings and fees by day, health and the waiting work. */
  getOperatorOverview(options?: CallOptions): Promise<Answer<'getOperatorOverview'>>;
  /** For the operator's wallets: registrations that wait for a first review. */
  listOperatorReviews(options?: CallOptions): Promise<Answer<'listOperatorReviews'>>;
  /** For the operator's wallets: listings with open reports. */
  listOperatorReports(options?: CallOptions): Promise<Answer<'listOperatorReports'>>;
  /** For the operator's wallets: the facts of a run, a request, a wallet or a listing, by its id. */
  findForOperator(id: string, options?: CallOptions): Promise<Answer<'findForOperator'>>;
  /** For the operator's wallets: the newest decisions on record. */
  listOperatorActions(options?: CallOptions): Promise<Answer<'listOperatorActions'>>;
  /** Sends a decision of the operator. `decideAsOperator` of `/solana` signs it, too. */
  decideAsOperator(
    decision: OperatorDecision,
    options?: ConfirmedOptions,
  ): Promise<Answer<'decideAsOperator'>>;
  /** The caller's own agents, with drafts, and whether the service can reach each of them. */
  listAgents(query?: Query<'listAgents'>, options?: CallOptions): Promise<Answer<'listAgents'>>;
  /** Runs of an own listing, newest first, with status and failure reason, without inputs and outputs. */
  listAgentRuns(
    listingId: string,
    query?: Query<'listAgentRuns'>,
    options?: CallOptions,
  ): Promise<Answer<'listAgentRuns'>>;
  /** Statistics of an own listing for 24 hours, 7 or 30 days: results and durations of runs, and refused requests. */
  getAgentStats(
    listingId: string,
    query?: Query<'getAgentStats'>,
    options?: CallOptions,
  ): Promise<AgentStats>;
  /** Runs and earnings of all own listings for 7 or 30 days: by day, and of each listing. */
  getAgentsStats(query?: Query<'getAgentsStats'>, options?: CallOptions): Promise<AgentsStats>;
  getJob(jobId: string, options?: CallOptions): Promise<Job>;
  createApiKey(body: Body<'createApiKey'>, options?: CallOptions): Promise<Answer<'createApiKey'>>;
  /** Connects an app after its OAuth request. Use `connectApp` of `@agent-rental/sdk/solana`, which makes the signature. */
  connectApp(body: Body<'connectApp'>, options?: CallOptions): Promise<Answer<'connectApp'>>;
  /** The wallet's valid keys and connected apps, newest first. Needs a wallet's login, like all key management. */
  listApiKeys(options?: CallOptions): Promise<{ api_keys: ApiKey[] }>;
  /** Ends a key, or disconnects an app: its next request is refused. */
  revokeApiKey(keyId: string, options?: CallOptions): Promise<ApiKey>;
  /** Spends that API keys of the wallet ask the owner to approve, without an answer yet. Needs a wallet's login. */
  listApprovals(options?: CallOptions): Promise<{ approvals: SpendingApproval[] }>;
  /** An API key's question to the owner, by `approval.id` of the error. Waits up to `waitSeconds` for the answer. */
  getApproval(approvalId: string, options?: WaitOptions): Promise<SpendingApproval>;
  /** Answers a question. A yes needs the wallet's signature: see `approveSpending` of `@agent-rental/sdk/solana`. */
  answerApproval(
    approvalId: string,
    body: Body<'answerApproval'>,
    options?: CallOptions,
  ): Promise<SpendingApproval>;
  getChallenge(wallet: string, options?: CallOptions): Promise<Answer<'getChallenge'>>;
  createTransaction(request: TransactionRequest, options?: CallOptions): Promise<TransactionProposal>;
  /** Options: `request` of the transaction. If it is too old, the error then carries a new `proposal`. */
  submitTransaction(
    transaction: string,
    options?: CallOptions & { request?: TransactionRequest | undefined },
  ): Promise<Answer<'submitTransaction'>>;
  /** Runs a task and waits for its end. A `failed` run is a value, not an error. Aborting `signal` cancels the run. */
  execute(body: ExecuteBody, options?: ExecuteOptions): Promise<Run>;
  /**
   * Starts a run. Returns the ended run if it ends within `waitSeconds`, else its `run_id`. The run goes on;
   * {@link RentalClient.waitForRun} waits for its end.
   */
  executeAsync(body: ExecuteBody, options?: ExecuteOptions & WaitOptions): Promise<Run | RunningRun>;
  /**
   * Runs a task and streams its output; the last event is `done`. Aborting `signal`, or leaving the loop early, cancels
   * the run.
   */
  executeStream(body: ExecuteBody, options?: ExecuteOptions): AsyncGenerator<RunEvent, void, undefined>;
  /** The state of a run; waits up to `waitSeconds` for its end. Results are kept for 24 hours. */
  getRun(runId: string, options?: WaitOptions): Promise<RunState>;
  /** Waits for the end of a run, without a timeout. */
  waitForRun(runId: string, options?: CallOptions): Promise<EndedRun>;
  /** The caller's active rentals as function definitions, for models without an adapter. */
  listTools(query?: Query<'listTools'>, options?: CallOptions): Promise<Answer<'listTools'>>;
  /**
   * Uploads a file as input of runs, by its `input_uri`. With the media type `application/json` the agent gets the JSON
   * value, with any other type the text. Private to the wallet, at most 8 MiB, kept for 24 hours.
   */
  uploadFile(
    content: Blob | Uint8Array<ArrayBuffer> | string,
    options: CallOptions & { mediaType: string },
  ): Promise<StoredFile>;
  getFile(fileId: string, options?: CallOptions): Promise<StoredFile>;
  deleteFile(fileId: string, options?: CallOptions): Promise<void>;
  /** Events of the wallet, by default the oldest first. Ask again with `after`: the `cursor` of the page before. */
  listEvents(query?: Query<'listEvents'>, options?: CallOptions): Promise<Answer<'listEvents'>>;
  /** Below how many runs a balance is low; for the wallet's login, as is setting it. */
  getEventSettings(options?: CallOptions): Promise<EventSettings>;
  setEventSettings(settings: EventSettings, options?: CallOptions): Promise<EventSettings>;
  /** The e-mail address that hears of events; for the wallet's login, as the three below. */
  getEmail(options?: CallOptions): Promise<EmailSettings>;
  /** Sets the address. One that is new gets a message, and hears of events once its reader confirms. */
  setEmail(settings: Body<'setEmail'>, options?: CallOptions): Promise<EmailSettings>;
  confirmEmail(token: string, options?: CallOptions): Promise<EmailSettings>;
  deleteEmail(options?: CallOptions): Promise<EmailSettings>;
  /**
   * Follows the events of the wallet: each once, in order, also over lost connections and restarts of the service. The loop
   * ends when `signal` aborts. Keep the `cursor` of the last handled event, and pass it as `after` in the next process.
   */
  events<N extends EventName = EventName>(
    options?: EventsOptions<N>,
  ): AsyncGenerator<HeardEvent<N>, void, undefined>;
  /** Addresses that hear of events. Needs a wallet's login, like all management of webhooks. */
  listWebhooks(options?: CallOptions): Promise<Answer<'listWebhooks'>>;
  /** Makes a webhook. Only this answer shows its secret. */
  createWebhook(body: Body<'createWebhook'>, options?: CallOptions): Promise<Answer<'createWebhook'>>;
  updateWebhook(webhookId: string, body: Body<'updateWebhook'>, options?: CallOptions): Promise<Webhook>;
  deleteWebhook(webhookId: string, options?: CallOptions): Promise<Webhook>;
  /** Replaces the signing secret. The old one signs beside it for 24 hours. */
  rotateWebhook(webhookId: string, options?: CallOptions): Promise<Answer<'rotateWebhook'>>;
  /** Sends a signed `webhook.test` now. */
  testWebhook(webhookId: string, options?: CallOptions): Promise<WebhookAttempt>;
  /** Deliveries of a webhook, the newest first. */
  listDeliveries(
    webhookId: string,
    query?: Query<'listDeliveries'>,
    options?: CallOptions,
  ): Promise<Answer<'listDeliveries'>>;
  /** Sends an event again, now. */
  redeliver(webhookId: string, eventId: string, options?: CallOptions): Promise<WebhookDelivery>;
  /** The caller's runs, newest first. */
  listRuns(query?: Query<'listRuns'>, options?: CallOptions): Promise<Answer<'listRuns'>>;
  /** The caller's ended runs and their cost for 7 or 30 days: by day, and by agent. An API key counts the runs that it began. */
  getSpending(query?: Query<'getSpending'>, options?: CallOptions): Promise<Spending>;
  /**
   * The receipt of a run, signed by the service. Receipts outlive the results of runs. `include: 'transaction'` adds the
   * evidence for the on-chain verification, for callers without an RPC endpoint.
   */
  getReceipt(runId: string, options?: CallOptions & Query<'getReceipt'>): Promise<SignedReceipt>;
  /** Stops a run and returns its result. */
  cancelRun(runId: string, options?: CallOptions): Promise<Cancellation>;
  /** Stops the run of an idempotency key. The service refuses later requests with the key, without a charge. */
  cancelRunByKey(idempotencyKey: string, options?: CallOptions): Promise<Cancellation>;
}

/** Documents, outside of the API's operations. */
const GET_RECEIPT_KEYS: Target = { method: 'GET', path: serviceEndpoints.getReceiptKeys.path, auth: 'none' };
const GET_SKILL: Target = { method: 'GET', path: SKILL_PATH, auth: 'none' };

/** A confirmation goes with its request as headers. */
function confirmed({ confirmation, signal }: ConfirmedOptions): Pick<RequestInput, 'headers' | 'signal'> {
  if (confirmation === undefined) return { signal };
  const { challenge, signature } = confirmation;
  const names = CONFIRMATION_HEADERS;
  return { signal, headers: { [names.challenge]: challenge, [names.signature]: signature } };
}

/** Makes a client of the marketplace's API. @throws TypeError for invalid options. */
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
  if (authentication === undefined && options.payPerCall === undefined) {
    throw new TypeError('A client needs an apiKey, a signer or payPerCall.');
  }
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
   * Stops the run of an aborted request. It names the run by its key, so that the service also refuses a request that
   * arrives later. Nothing waits for the answer or reports a failure: the service later stops runs without a caller.
   */
  const abandon = (input: RequestInput): void => {
    const idempotency_key = input.headers?.['idempotency-key'];
    // A payment alone cannot stop its run.
    if (authentication === undefined) return;
    if (idempotency_key === undefined || idempotency_key.includes(';window=')) return;
    void call(operations.cancelRunByKey, { body: { idempotency_key }, repeatable: true }).catch(
      () => undefined,
    );
  };
  /** Returns an answer that is about the requested listing. Throws for an answer about another one. */
  const about = <T>(asked: string, answer: T, listingOf: (answer: T) => string): T => {
    if (listingOf(answer) === asked) return answer;
    throw new ConnectionError(`The marketplace at ${baseUrl} answered about another listing than ${asked}.`);
  };
  const payments =
    options.payPerCall && createCallPayments(http, options.payPerCall, () => call(operations.getNetwork, {}));
  /** Sends a run, and pays for it where the service asks for that. */
  const sendRun = <T>(
    operation: Operation,
    input: RequestInput,
    { idempotencyKey }: ExecuteOptions,
    read: (response: Response) => T | Promise<T>,
  ): Promise<T> => {
    if (!payments) return sendRequest(http, operation, input, read);
    const { agent_id: listingId } = input.body as ExecuteBody;
    const key = input.headers?.['idempotency-key'] ?? '';
    const run = { listingId, key, isNamed: idempotencyKey !== undefined };
    return payments.send(run, operation, input, read);
  };
  /** Begins the window after a run's end, in which its key still names it. */
  const noteEnd = (input: RequestInput, { keyWindowSeconds }: ExecuteOptions): void => {
    if (keyWindowSeconds === undefined) return;
    payments?.freeLater(input.headers?.['idempotency-key'] ?? '', keyWindowSeconds);
  };
  /** The ended run, or the running one if the request prefers an asynchronous answer. */
  const execution = (input: RequestInput, given: ExecuteOptions): Promise<Run | RunningRun> =>
    sendRun(operations.execute, input, given, async (response) => {
      const schema = response.status === 202 ? operations.execute.accepted : operations.execute.response;
      const answer = schema.parse(await response.json());
      if (response.status !== 202) noteEnd(input, given);
      return answer;
    });
  const getRun = (run_id: string, { waitSeconds, signal }: WaitOptions = {}): Promise<RunState> =>
    call(operations.getRun, {
      params: { run_id },
      headers: { ...waiting(waitSeconds), ...payments?.headersOf(run_id) },
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
    getReceiptKeys: (given = {}) =>
      sendRequest(http, GET_RECEIPT_KEYS, given, async (response) => jwks.parse(await response.json())),
    getSkill: (name, given = {}) =>
      sendRequest(http, GET_SKILL, { params: { name }, ...given }, (response) => response.text()),
    listVersions: (id, given = {}) => call(operations.listVersions, { params: { id }, ...given }),
    createReview: (id, body, given = {}) =>
      call(operations.createReview, { params: { id }, body, repeatable: true, ...given }),
    createReport: (id, body, given = {}) =>
      call(operations.createReport, { params: { id }, body, repeatable: true, ...given }),
    listReviews: (id, query = {}, given = {}) =>
      call(operations.listReviews, { params: { id }, query: plain(query), ...given }),
    answerReview: (id, reviewer, text, given = {}) =>
      call(operations.answerReview, { params: { id, reviewer }, body: { text }, repeatable: true, ...given }),
    deleteReviewAnswer: (id, reviewer, given = {}) =>
      call(operations.deleteReviewAnswer, { params: { id, reviewer }, repeatable: true, ...given }),
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
      call(operations.pinVersion, { params: { listing_id }, body: { version }, repeatable: true, ...given }),
    registerAgent: (body, given = {}) => call(operations.registerAgent, { body, ...given }),
    updateAgent: (listing_id, body, given = {}) =>
      call(operations.updateAgent, { params: { listing_id }, body, ...confirmed(given) }),
    rollbackAgent: (listing_id, version, given = {}) =>
      call(operations.rollbackAgent, { params: { listing_id }, body: { version }, ...confirmed(given) }),
    // A repeated deletion would find nothing: no retry.
    deleteAgent: (listing_id, given = {}) =>
      call(operations.deleteAgent, { params: { listing_id }, ...given }),
    // A confirmation is valid once: no retry.
    setModelKey: (id, model_key, given = {}) =>
      call(operations.setModelKey, { params: { id }, body: { model_key }, ...confirmed(given) }),
    rotateWebhookSecret: (id, given = {}) =>
      call(operations.rotateWebhookSecret, { params: { id }, ...confirmed(given) }),
    getEarnings: (query = {}, given = {}) => call(operations.getEarnings, { query: plain(query), ...given }),
    getOperatorOverview: (given = {}) => call(operations.getOperatorOverview, given),
    listOperatorReviews: (given = {}) => call(operations.listOperatorReviews, given),
    listOperatorReports: (given = {}) => call(operations.listOperatorReports, given),
    findForOperator: (id, given = {}) => call(operations.findForOperator, { query: { id }, ...given }),
    listOperatorActions: (given = {}) => call(operations.listOperatorActions, given),
    decideAsOperator: (body, given = {}) => call(operations.decideAsOperator, { body, ...confirmed(given) }),
    listAgents: (query = {}, given = {}) => call(operations.listAgents, { query: plain(query), ...given }),
    listAgentRuns: (listing_id, query = {}, given = {}) =>
      call(operations.listAgentRuns, { params: { listing_id }, query: plain(query), ...given }),
    getAgentStats: (listing_id, query = {}, given = {}) =>
      call(operations.getAgentStats, { params: { listing_id }, query: plain(query), ...given }),
    getAgentsStats: (query = {}, given = {}) =>
      call(operations.getAgentsStats, { query: plain(query), ...given }),
    getJob: (job_id, given = {}) => call(operations.getJob, { params: { job_id }, ...given }),
    createApiKey: (body, given = {}) => call(operations.createApiKey, { body, ...given }),
    connectApp: (body, given = {}) => call(operations.connectApp, { body, ...given }),
    listApiKeys: (given = {}) => call(operations.listApiKeys, given),
    // Ending a key twice ends it once.
    revokeApiKey: (key_id, given = {}) =>
      call(operations.revokeApiKey, { params: { key_id }, repeatable: true, ...given }),
    listApprovals: (given = {}) => call(operations.listApprovals, given),
    getApproval: (approval_id, { waitSeconds, signal } = {}) =>
      call(operations.getApproval, { params: { approval_id }, headers: waiting(waitSeconds), signal }),
    // A confirmation is valid once: no retry.
    answerApproval: (approval_id, body, given = {}) =>
      call(operations.answerApproval, { params: { approval_id }, body, ...given }),
    getChallenge: (wallet, given = {}) => call(operations.getChallenge, { query: { wallet }, ...given }),
    createTransaction: (body, given = {}) =>
      call(operations.createTransaction, { body, repeatable: true, ...given }),
    // A signed transaction lands at most once, so a retry is safe.
    submitTransaction: (transaction, { request, ...given } = {}) =>
      call(operations.submitTransaction, { body: { transaction, request }, repeatable: true, ...given }),
    execute: async (body, given = {}) => {
      const wait = createDeadline(undefined, given.signal, given.leave);
      const input = runInput(body, given, wait.signal);
      try {
        return (await execution(input, given)) as Run;
      } finally {
        wait.clear();
        if (given.signal?.aborted) abandon(input);
      }
    },
    executeAsync: async (body, { waitSeconds = 0, ...given } = {}) => {
      const wait = createDeadline(undefined, given.signal, given.leave);
      const input = runInput(body, given, wait.signal, `respond-async, wait=${waitSeconds}`);
      try {
        return await execution(input, given);
      } finally {
        wait.clear();
      }
    },
    executeStream: async function* (body, given = {}) {
      const wait = createDeadline(undefined, given.signal, given.leave);
      const input = runInput(body, given, wait.signal);
      let isDone = false;
      try {
        const response = await sendRun(operations.executeStream, input, given, (started) => started);
        const runId = response.headers.get('x-run-id');
        if (runId !== null) given.onRunId?.(runId);
        for await (const event of readRunEvents(response, input.signal)) {
          isDone = event.event === 'done';
          if (isDone) noteEnd(input, given);
          yield event;
        }
      } catch (error) {
        // A broken stream does not cancel the run: the same key gives the run's answer.
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
    listEvents: (query = {}, given = {}) => call(operations.listEvents, { query: plain(query), ...given }),
    getEventSettings: (given = {}) => call(operations.getEventSettings, given),
    setEventSettings: (body, given = {}) =>
      call(operations.setEventSettings, { body, repeatable: true, ...given }),
    getEmail: (given = {}) => call(operations.getEmail, given),
    setEmail: (body, given = {}) => call(operations.setEmail, { body, ...given }),
    confirmEmail: (token, given = {}) => call(operations.confirmEmail, { body: { token }, ...given }),
    deleteEmail: (given = {}) => call(operations.deleteEmail, given),
    events: (given = {}) => followEvents(http, given),
    listWebhooks: (given = {}) => call(operations.listWebhooks, given),
    createWebhook: (body, given = {}) => call(operations.createWebhook, { body, ...given }),
    updateWebhook: (webhook_id, body, given = {}) =>
      call(operations.updateWebhook, { params: { webhook_id }, body, repeatable: true, ...given }),
    deleteWebhook: (webhook_id, given = {}) =>
      call(operations.deleteWebhook, { params: { webhook_id }, ...given }),
    rotateWebhook: (webhook_id, given = {}) =>
      call(operations.rotateWebhook, { params: { webhook_id }, ...given }),
    testWebhook: (webhook_id, given = {}) =>
      call(operations.testWebhook, { params: { webhook_id }, ...given }),
    listDeliveries: (webhook_id, query = {}, given = {}) =>
      call(operations.listDeliveries, { params: { webhook_id }, query: plain(query), ...given }),
    redeliver: (webhook_id, event_id, given = {}) =>
      call(operations.redeliver, { params: { webhook_id, event_id }, ...given }),
    listRuns: (query = {}, given = {}) => call(operations.listRuns, { query: plain(query), ...given }),
    getSpending: (query = {}, given = {}) => call(operations.getSpending, { query: plain(query), ...given }),
    getReceipt: (run_id, { include, signal } = {}) =>
      call(operations.getReceipt, {
        params: { run_id },
        query: { include },
        headers: { ...payments?.headersOf(run_id) },
        signal,
      }),
    cancelRun: (run_id, given = {}) =>
      call(operations.cancelRun, { params: { run_id }, repeatable: true, ...given }),
    cancelRunByKey: (idempotency_key, given = {}) =>
      call(operations.cancelRunByKey, { body: { idempotency_key }, repeatable: true, ...given }),
  };
}

/** The header that asks the service to wait before it answers. */
function waiting(seconds: number | undefined): Record<string, string> {
  return seconds === undefined ? {} : { prefer: `wait=${seconds}` };
}

/** Query values as strings and numbers; the contract's coercing schemas leave them `unknown`. */
function plain(query: Record<string, unknown>): Record<string, string | number | undefined> {
  return query as Record<string, string | number | undefined>;
}
