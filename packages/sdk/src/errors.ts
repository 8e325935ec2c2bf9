import {
  errorEnvelope,
  type ApiKeyScope,
  type ApprovalOffer,
  type ErrorCode,
  type OnChainError,
  type PolicyRule,
} from '@agent-rental/contract';

const MARKER = Symbol.for('agent-rental.api-error');

/**
 * An error that the API answered with. Recognise it with {@link isApiError}, which holds across copies of
 * this package, where `instanceof` does not.
 */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly [MARKER] = true;
  /** Error code of the API, for instance `insufficient_balance`. */
  readonly code: ErrorCode;
  /** HTTP status. */
  readonly status: number;
  /** The cause alone. `message` may also tell a caller over HTTP the next step. */
  readonly reason: string;
  /** Give this to support. */
  readonly requestId: string | undefined;
  /** The run that the error is about, where one had started. */
  readonly runId: string | undefined;
  /** Where the error began on-chain. */
  readonly onChainError: OnChainError | undefined;
  /** The rule of the API key's spending policy that refused; absent where something else did. */
  readonly policyRule: PolicyRule | undefined;
  /** The scopes of which the API key needs one; absent where it does not lack a scope. */
  readonly requiredScopes: readonly ApiKeyScope[] | undefined;
  /** The page where the owner of the wallet approves the call; then the same call goes on. */
  readonly approval: ApprovalOffer | undefined;
  /** Seconds to wait before trying again, from `Retry-After`. */
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
    this.retryAfterSeconds = fields.retryAfterSeconds;
  }
}

/** Whether a thrown value is an {@link ApiError}. */
export function isApiError(value: unknown): value is ApiError {
  return typeof value === 'object' && value !== null && MARKER in value;
}

/** The service could not be reached, or what answered was not the service. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError';
  /** The run that an earlier try of the request had started, as far as that is known. */
  readonly runId: string | undefined;

  constructor(message: string, options: ErrorOptions & { runId?: string | undefined } = {}) {
    super(message, options);
    this.runId = options.runId;
  }
}

/** The last error of a request that was tried again, with the first run that it started and the error of that run. */
export function afterRetries(
  last: ApiError | ConnectionError,
  first: ApiError | undefined,
): ApiError | ConnectionError {
  if (first?.runId === undefined || first === last) return last;
  const earlier = `The first try began run ${first.runId}: ${first.reason}`;
  if (last instanceof ConnectionError) {
    return new ConnectionError(`${last.message} ${earlier}`, { cause: first, runId: first.runId });
  }
  const { code, status, requestId, onChainError, policyRule, requiredScopes, approval, retryAfterSeconds } =
    last;
  return new ApiError({
    code,
    status,
    requestId,
    onChainError,
    policyRule,
    requiredScopes,
    approval,
    retryAfterSeconds,
    message: `${last.message} ${earlier}`,
    reason: `${last.reason} ${earlier}`,
    runId: first.runId,
  });
}

/** The error of a request that got no answer, or one that could not be read. */
export function unreachable(baseUrl: string, cause: unknown): ConnectionError {
  return new ConnectionError(`The marketplace at ${baseUrl} could not be reached, or its answer not read.`, {
    cause,
  });
}

/** Makes the error of an unsuccessful response. Never throws: a body that is not ours gives a general error. */
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
    retryAfterSeconds: Number.isFinite(retryAfter) ? retryAfter : undefined,
  });
}
