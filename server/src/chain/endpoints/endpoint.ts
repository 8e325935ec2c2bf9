import { Connection, SolanaJSONRPCError } from '@solana/web3.js';
import { createRpc, fetchFrom, postJson, RpcAnswerError, type Exchange, type Rpc } from '../rpc.js';

/** One RPC endpoint: the calls of each run, and web3.js for all others. */
export interface RpcEndpoint {
  /** Host and port, for logs and metrics. An address may hold an API key, in its path or query. */
  readonly host: string;
  readonly rpc: Rpc;
  readonly connection: Connection;
}

/** JSON-RPC errors by which a node says that it cannot serve at the moment (agave, `rpc-client-api/src/custom_error.rs`). */
const NODE_TROUBLE: ReadonlySet<number> = new Set([-32_603, -32_005, -32_004, -32_014]);
/** Calls that every node answers: an error to one of them is the node's, not the caller's. */
const ALWAYS_ANSWERED: ReadonlySet<unknown> = new Set(['getMultipleAccounts', 'getSignatureStatuses']);
/** `MinContextSlotNotReached` of the same list. */
const SLOT_NOT_REACHED = -32_016;
/** The longest `Retry-After` that counts. */
const MOST_RETRY_AFTER_MS = 300_000;

/** An endpoint did not answer as an endpoint does. The message holds no part of its address but the host. */
export class EndpointError extends Error {
  override readonly name = 'EndpointError';

  readonly reason: string;
  /** How long it asked to be left alone. */
  readonly retryAfterMs: number;

  constructor(reason: string, retryAfterMs = 0, cause?: unknown) {
    super(`The RPC endpoint failed: ${reason}.`, { cause });
    this.reason = reason;
    this.retryAfterMs = retryAfterMs;
  }
}

/** An endpoint has not reached the slot that a read has to see. */
export class BehindError extends Error {
  override readonly name = 'BehindError';
}

/** Whether an endpoint answered, if only with the error of a call; anything else is a failure of the endpoint. */
export function isAnswer(error: unknown): boolean {
  return (
    error instanceof BehindError || error instanceof RpcAnswerError || error instanceof SolanaJSONRPCError
  );
}

/** An endpoint that is used as it is, because there is no other. */
export function createOnlyEndpoint(url: string): RpcEndpoint {
  return endpointOf(url, (body) => postJson(url, body));
}

/** An endpoint whose answers are checked, so that it can be left for another one. */
export function createCheckedEndpoint(url: string): RpcEndpoint {
  return endpointOf(url, async (body) => {
    const { statusCode, text, headers } = await postJson(url, body).catch((cause: unknown) => {
      throw new EndpointError(cause instanceof DOMException ? 'timeout' : 'unreachable', 0, cause);
    });
    if (statusCode !== 200) {
      throw new EndpointError(`status ${statusCode}`, retryAfterMs(headers['retry-after']));
    }
    requireAnswerTo(body, text);
    return { statusCode, text };
  });
}

function endpointOf(url: string, exchange: Exchange): RpcEndpoint {
  const connection = new Connection(url, {
    commitment: 'finalized',
    disableRetryOnRateLimit: true,
    fetch: fetchFrom(exchange),
  });
  return { host: new URL(url).host, rpc: createRpc(exchange), connection };
}

/** @throws EndpointError unless the text answers the request. @throws BehindError */
function requireAnswerTo(request: string, text: string): void {
  const { id, method } = JSON.parse(request) as { id: unknown; method: unknown };
  let answer: unknown;
  try {
    answer = JSON.parse(text);
  } catch (cause) {
    throw new EndpointError('not JSON', 0, cause);
  }
  if (typeof answer !== 'object' || answer === null) throw new EndpointError('no JSON-RPC answer');
  const { id: answered, error } = answer as { id?: unknown; error?: { code?: unknown } | null };
  if (answered !== id) throw new EndpointError('the answer to another request');
  const code = error?.code;
  if (code === SLOT_NOT_REACHED) throw new BehindError('The endpoint has not reached the slot.');
  if (error != null && (ALWAYS_ANSWERED.has(method) || NODE_TROUBLE.has(Number(code)))) {
    throw new EndpointError(typeof code === 'number' ? `error ${code}` : 'an error');
  }
  if (error == null && !('result' in answer)) throw new EndpointError('no JSON-RPC answer');
}

/** RFC 9110: seconds, or a date. */
function retryAfterMs(header: string | string[] | undefined): number {
  const text = Array.isArray(header) ? header[0] : header;
  if (text === undefined) return 0;
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now();
  return Number.isFinite(ms) ? Math.min(Math.max(ms, 0), MOST_RETRY_AFTER_MS) : 0;
}
