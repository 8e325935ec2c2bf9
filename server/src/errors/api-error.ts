import {
  ERROR_STATUS,
  refusalMessage,
  type ApiKeyScope,
  type ApprovalOffer,
  type ErrorCode,
  type ErrorEnvelope,
  type OnChainError,
  type PolicyRule,
  type Refusal,
  type TransactionProposal,
} from '@agent-rental/contract';

/** The further parts of an {@link ApiError}. */
export interface ApiErrorDetails {
  /** The next step of a caller over HTTP; it ends the message. The only place for endpoints and headers. */
  next?: string | undefined;
  onChainError?: OnChainError | undefined;
  /** A more exact HTTP status than the code's, of the same class. */
  status?: number | undefined;
  /** Becomes the `Retry-After` header. Temporary errors have one in any case. */
  retryAfterSeconds?: number | undefined;
  runId?: string | undefined;
  /** The rule of the API key's spending policy that refused. */
  policyRule?: PolicyRule | undefined;
  /** The scopes that the API key lacks; one of them is needed. */
  requiredScopes?: readonly ApiKeyScope[] | undefined;
  /** Where the owner of the wallet approves a spend that the API key may not make alone. */
  approval?: ApprovalOffer | undefined;
  /** A transaction in place of a submitted one that is too old. */
  proposal?: TransactionProposal | undefined;
  /** The fault of a token that is bound to a key, or of its proof (RFC 9449, section 7.1). */
  dpop?: 'invalid_token' | 'invalid_dpop_proof' | undefined;
  /** For the log only; never leaves the server. */
  cause?: unknown;
}

/** The codes of temporary errors. */
type TemporaryCode = {
  [Code in ErrorCode]: (typeof ERROR_STATUS)[Code] extends 429 | 503 ? Code : never;
}[ErrorCode];

/** When to come back where nothing better is known. A 429 or 503 without an entry does not compile. */
const RETRY_AFTER_SECONDS: Readonly<Record<TemporaryCode, number> & Partial<Record<ErrorCode, number>>> = {
  rate_limit_exceeded: 5,
  service_unavailable: 5,
};

/**
 * An answer other than success. The message is for the caller and holds nothing internal. It names the event, and the
 * next step of a caller over HTTP. Tools show the event alone, because their models call no endpoint.
 */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly code: ErrorCode;
  readonly status: number;
  /** The reason. */
  readonly reason: string;
  readonly onChainError: OnChainError | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly runId: string | undefined;
  readonly policyRule: PolicyRule | undefined;
  readonly requiredScopes: readonly ApiKeyScope[] | undefined;
  readonly approval: ApprovalOffer | undefined;
  readonly proposal: TransactionProposal | undefined;
  /** Becomes the challenge of the answer. */
  readonly dpop: ApiErrorDetails['dpop'];

  constructor(code: ErrorCode, told: string | Refusal, details: ApiErrorDetails = {}) {
    const refusal = typeof told === 'string' ? { reason: told, next: details.next } : told;
    const message = refusalMessage(refusal);
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.reason = refusal.reason;
    this.status = details.status ?? ERROR_STATUS[code];
    this.onChainError = details.onChainError;
    this.retryAfterSeconds = details.retryAfterSeconds ?? RETRY_AFTER_SECONDS[code];
    this.runId = details.runId;
    this.policyRule = details.policyRule;
    this.requiredScopes = details.requiredScopes;
    this.approval = details.approval;
    this.proposal = details.proposal;
    this.dpop = details.dpop;
  }

  /** The error object of the envelope (spec, "Errors"). */
  body(requestId: string): ErrorEnvelope['error'] {
    return {
      code: this.code,
      message: this.message,
      ...(this.reason === this.message ? {} : { reason: this.reason }),
      status: this.status,
      request_id: requestId,
      ...(this.runId === undefined ? {} : { run_id: this.runId }),
      ...(this.onChainError === undefined ? {} : { on_chain_error: this.onChainError }),
      ...(this.policyRule === undefined ? {} : { policy_rule: this.policyRule }),
      ...(this.requiredScopes === undefined ? {} : { required_scopes: [...this.requiredScopes] }),
      ...(this.approval === undefined ? {} : { approval: this.approval }),
      ...(this.proposal === undefined ? {} : { proposal: this.proposal }),
    };
  }
}

/** Messages of `pg` when no connection became free, or none could be made, in time; they have no code. */
const POOL_TIMEOUTS = [
  'timeout exceeded when trying to connect',
  'Connection terminated due to connection timeout',
];

/** The database cannot be reached, ended the connection, or has no room: SQLSTATEs, and errors of the connection. */
const DATABASE_OUT = /^(08|53|57P0)|^E(CONNREFUSED|CONNRESET|PIPE|NOTFOUND|HOSTUNREACH)$/;

/** Messages of `pg` about a connection that ended during a statement; they have no code. */
const CONNECTION_LOST = ['Connection terminated unexpectedly', 'Connection terminated'];

function isDatabaseOut(cause: Error & { code?: unknown }): boolean {
  return (
    CONNECTION_LOST.includes(cause.message) ||
    (typeof cause.code === 'string' && DATABASE_OUT.test(cause.code))
  );
}

/** The error that hides an unexpected one; the log has the cause under the request id. */
export function internalError(cause: unknown): ApiError {
  // All connections of the pool were taken for as long as one waits for them: more load than can be served.
  if (cause instanceof Error && POOL_TIMEOUTS.includes(cause.message)) {
    return new ApiError('service_unavailable', 'The server has too much to do at the moment.', {
      next: 'Try again.',
      cause,
      retryAfterSeconds: 10,
    });
  }
  if (cause instanceof Error && isDatabaseOut(cause)) {
    return new ApiError('service_unavailable', 'The server cannot use its database at the moment.', {
      next: 'Try again.',
      cause,
    });
  }
  return new ApiError('internal_error', 'Something went wrong on our side.', {
    next: 'Try again; quote the request id to support.',
    cause,
  });
}
