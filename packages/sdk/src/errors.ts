import {
  errorEnvelope,
  type ApiKeyScope,
  type ApprovalOffer,
  type ErrorCode,
  type OnChainError,
  type PolicyRule,
  type TransactionProposal,
} from '@agent-rental/contract';

const MARKER = Symbol.for('agent-rental.api-error');

/**
 * An error answer of the API. Recognise it with {@link isApiError}, which also works across copies of this package, unlike
 * `instanceof`.
 */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly [MARKER] = true;
  /** Error code of the API, for instance `insufficient_balance`. */
  readonly code: ErrorCode;
  /** HTTP status. */
  readonly status: number;
  /** The cause only. `message` may also have the next step for a caller over HTTP. */
  readonly reason: string;
  /** Give this to support. */
  readonly requestId: string | undefined;
  /** The id of the started run, if the error is about one. */
  readonly runId: string | undefined;
  /** The on-chain cause of the error. */
  readonly onChainError: OnChainError | undefined;
  /** The rule of the API key's spending policy that refused the call; absent for other refusals. */
  readonly policyRule: PolicyRule | undefined;
  /** The API key needs one of these scopes; absent if no scope is missing. */
  readonly requiredScopes: readonly ApiKeyScope[] | undefined;
  /** The page where the wallet's owner approves the call. After the approval, repeat the same call. */
  readonly approval: ApprovalOffer | undefined;
  /** The submitted transaction was too old and never lands. This one does the same. */
  readonly proposal: TransactionProposal | undefined;
  /** The service asks for a payment of this call (HTTP 402): its challenge, from `WWW-Authenticate`. */
  readonly paymentChallenge: string | undefined;
  /** Seconds to wait before a retry, from `Retry-After`. */
  readonly retryAfterSeconds: number | undefined;

  constructor(fields: {
    code: ErrorCode;
    message: string;
    reason?: string | undefined;
    status: number;
    requestId?: string | undefined;
    runId?: string | undefined;
    onChainError?: OnChainError | undefined;
    policyRule?: PolicyRule | undefined;
    requiredScopes?: readonly ApiKeyScope[] | undefined;
    approval?: ApprovalOffer | undefined;
    proposal?: TransactionProposal | undefined;
    paymentChallenge?: string | undefined;
    retryAfterSeconds?: number | undefined;
  }) {
    super(fields.message);
    this.code = fields.code;
    this.status = fields.status;
    this.reason = fields.reason ?? fields.message;
    this.requestId = fields.requestId;
    this.runId = fields.runId;
    this.onChainError = fields.onChainError;
    this.policyRule = fields.policyRule;
    this.requiredScopes = fields.requiredScopes;
    this.approval = fields.approval;
    this.proposal = fields.proposal;
    this.paymentChallenge = fields.paymentChallenge;
    this.retryAfterSeconds = fields.retryAfterSeconds;
  }
}

/** Whether a thrown value is an {@link ApiError}. */
export function isApiError(value: unknown): value is ApiError {
  return typeof value === 'object' && value !== null && MARKER in value;
}

/** The service could not be reached, or another server answered. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError';
  /** The run that an earlier try of the request had started, if known. */
  readonly runId: string | undefined;
  /** The endpoint that was not reached. */
  readonly endpoint: 'marketplace' | 'rpc';

  constructor(
    message: string,
    options: ErrorOptions & { runId?: string | undefined; endpoint?: 'rpc' } = {},
  ) {
    super(message, options);
    this.runId = options.runId;
    this.endpoint = options.endpoint ?? 'marketplace';
  }
}

/** The last error of a retried request, with the first run of the request and that run's error. */
export function afterRetries(
  last: ApiError | ConnectionError,
  first: ApiError | undefined,
): ApiError | ConnectionError {
  if (first?.runId === undefined || first === last) return last;
  const earlier = `The first try began run ${first.runId}: ${first.reason}`;
  if (last instanceof ConnectionError) {
    return new ConnectionError(`${last.message} ${earlier}`, { cause: first, runId: first.runId });
  }
  const { message, reason, ...fields } = last;
  return new ApiError({
    ...fields,
    message: `${message} ${earlier}`,
    reason: `${reason} ${earlier}`,
    runId: first.runId,
  });
}

/** The error of a request without a readable answer. */
export function unreachable(baseUrl: string, cause: unknown): ConnectionError {
  return new ConnectionError(`The marketplace at ${baseUrl} could not be reached, or its answer not read.`, {
    cause,
  });
}

/** Makes the error of an unsuccessful response. Never throws: a body of another server gives a general error. */
export async function apiErrorFromResponse(response: Response): Promise<ApiError | ConnectionError> {
  const retryAfter = Number(response.headers.get('retry-after') ?? Number.NaN);
  const body: unknown = await response.json().catch(() => undefined);
  const parsed = errorEnvelope.safeParse(body);
  if (!parsed.success) {
    return new ConnectionError(`The answer (HTTP ${response.status}) is not from the marketplace's API.`);
  }
  const { error } = parsed.data;
  return new ApiError({
    code: error.code,
    message: error.message,
    reason: error.reason,
    status: response.status,
    requestId: error.request_id ?? response.headers.get('x-request-id') ?? undefined,
    runId: error.run_id,
    onChainError: error.on_chain_error,
    policyRule: error.policy_rule,
    requiredScopes: error.required_scopes,
    approval: error.approval,
    proposal: error.proposal,
    paymentChallenge:
      response.status === 402 ? (response.headers.get('www-authenticate') ?? undefined) : undefined,
    retryAfterSeconds: Number.isFinite(retryAfter) ? retryAfter : undefined,
  });
}
