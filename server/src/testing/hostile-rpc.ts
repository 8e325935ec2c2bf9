import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { request } from 'undici';
import { readBody, startHttpStandIn } from './http-stand-in.js';

/** A JSON-RPC answer as it goes over the signedBytes. */
interface RpcAnswer {
  jsonrpc: '2.0';
  id: unknown;
  result?: unknown;
  error?: unknown;
}

/** A call that passes through the proxy. */
export interface ProxiedCall {
  readonly method: string;
  readonly params: readonly unknown[];
  readonly id: unknown;
  /** Asks the real endpoint; twice where it is called twice. */
  forward(): Promise<RpcAnswer>;
  /** The connection, for answers that are no JSON-RPC. */
  readonly response: ServerResponse;
}

/** A fault of an endpoint: gives the wrong answer to a call, or undefined where it has written the response itself. */
export type RpcFault = (call: ProxiedCall) => Promise<RpcAnswer | undefined>;

/** A proxy before an RPC endpoint, with the faults that a test chooses. */
export interface HostileRpc {
  readonly url: string;
  /** The methods that were called, in order. */
  readonly calls: string[];
  /** From now on every call has this fault; undefined: none. */
  fault: RpcFault | undefined;
  /** Resolves at the next call of a method. */
  nextCall(method: string): Promise<void>;
  close(): Promise<void>;
}

/** Starts a proxy on a free port. An address may carry a path and query, as those with API keys do. */
export async function startHostileRpc(upstreamUrl: string): Promise<HostileRpc> {
  const calls: string[] = [];
  const waiting: { method: string; resolve: () => void }[] = [];
  const standIn = await startHttpStandIn(async (incoming, response) => {
    const body = await readBody(incoming);
    const {
      id,
      method,
      params = [],
    } = JSON.parse(body) as { id: unknown; method: string; params?: unknown[] };
    calls.push(method);
    for (const each of waiting.filter((waiter) => waiter.method === method)) {
      waiting.splice(waiting.indexOf(each), 1);
      each.resolve();
    }
    const forward = async () => {
      const headers = { 'content-type': 'application/json' };
      const answer = await request(upstreamUrl, { method: 'POST', headers, body });
      return (await answer.body.json()) as RpcAnswer;
    };
    const fault = hostile.fault ?? (() => forward());
    const answer = await fault({ method, params, id, forward, response });
    if (answer === undefined || response.destroyed) return;
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
  });
  const hostile: HostileRpc = {
    url: `${standIn.origin}/rpc/secret-path?api-key=secret-query`,
    calls,
    fault: undefined,
    nextCall: (method) => new Promise((resolve) => waiting.push({ method, resolve })),
    close: () => standIn.close(),
  };
  return hostile;
}

/** A fault of some methods; the others pass. */
export const onlyFor =
  (methods: readonly string[], fault: RpcFault): RpcFault =>
  (call) =>
    methods.includes(call.method) ? fault(call) : call.forward();

/** Several faults, each for other methods. */
export const eachFor =
  (faults: Readonly<Record<string, RpcFault>>): RpcFault =>
  (call) =>
    (faults[call.method] ?? ((other: ProxiedCall) => other.forward()))(call);

/** Changes the result of an answer. */
const changed =
  (change: (result: never, call: ProxiedCall) => unknown): RpcFault =>
  async (call) => {
    const answer = await call.forward();
    return 'result' in answer ? { ...answer, result: change(answer.result as never, call) } : answer;
  };

interface InContext {
  context: { slot: number };
  value: unknown;
}

const status = (slot: number, level: string, err: unknown) => ({
  slot,
  confirmations: level === 'finalized' ? null : 0,
  err,
  status: err === null ? { Ok: null } : { Err: err },
  confirmationStatus: level,
});

/** The possible faults of an RPC endpoint. */
export const rpcFaults = {
  /** Answers when the test says so. */
  late:
    (until: Promise<unknown>): RpcFault =>
    async (call) => {
      const answer = await call.forward();
      await until;
      return answer;
    },
  /** Hands every call on twice. */
  twice: (async (call) => {
    await call.forward();
    return call.forward();
  }) satisfies RpcFault,
  /** Answers pairs of calls in reverse order. */
  outOfOrder: (): RpcFault => {
    let first: (() => void) | undefined;
    return async (call) => {
      const answer = await call.forward();
      if (first) {
        queueMicrotask(first);
        first = undefined;
      } else {
        await new Promise<void>((resolve) => (first = resolve));
      }
      return answer;
    };
  },
  /** Takes a transaction and hands it on to no validator. */
  forgetsSent: (async (call) =>
    call.method === 'sendTransaction'
      ? { jsonrpc: '2.0', id: call.id, result: '1'.repeat(64) }
      : call.forward()) satisfies RpcFault,
  /** Says of every transaction that it ended so. */
  claims: (level: 'processed' | 'confirmed' | 'finalized', err: unknown = null): RpcFault =>
    onlyFor(
      ['getSignatureStatuses'],
      changed((result: InContext, { params }) => ({
        ...result,
        value: (params[0] as unknown[]).map(() => status(result.context.slot, level, err)),
      })),
    ),
  /** Knows no transaction. */
  knowsNone: onlyFor(
    ['getSignatureStatuses'],
    changed((result: InContext, { params }) => ({
      ...result,
      value: (params[0] as unknown[]).map(() => null),
    })),
  ),
  /** Shows accounts as the test says. */
  shows: (accounts: (address: string, real: unknown) => unknown, slotsAhead = 0): RpcFault =>
    onlyFor(
      ['getMultipleAccounts'],
      changed((result: InContext, { params }) => ({
        context: { ...result.context, slot: result.context.slot + slotsAhead },
        value: (params[0] as string[]).map((address, index) =>
          accounts(address, (result.value as unknown[])[index]),
        ),
      })),
    ),
  /** Answers at one slot, and ignores the slot that a call asks for. */
  standsAt: (slot: number): RpcFault =>
    eachFor({
      getSlot: changed(() => slot),
      getMultipleAccounts: changed((result: InContext) => ({ ...result, context: { slot } })),
      getSignatureStatuses: changed((result: InContext) => ({ ...result, context: { slot } })),
    }),
  /** A provider's limit. */
  tooManyRequests:
    (retryAfterSeconds: number): RpcFault =>
    async ({ response }) => {
      response.writeHead(429, { 'retry-after': String(retryAfterSeconds) }).end('Too many requests');
      return undefined;
    },
  serverError: (async ({ response }) => {
    response.writeHead(502).end('<html>Bad gateway</html>');
    return undefined;
  }) satisfies RpcFault,
  /** Breaks off inside its answer. */
  halfABody: (async (call) => {
    const text = JSON.stringify(await call.forward());
    call.response.writeHead(200, { 'content-length': text.length }).write(text.slice(0, text.length / 2));
    call.response.socket?.end();
    await once(call.response, 'close');
    return undefined;
  }) satisfies RpcFault,
  /** Half an answer, as if it were whole. */
  notJson: (async (call) => {
    const text = JSON.stringify(await call.forward());
    call.response.end(text.slice(0, text.length / 2));
    return undefined;
  }) satisfies RpcFault,
  wrongForm: (async ({ id }) => ({ jsonrpc: '2.0', id, result: { value: 'five' } })) satisfies RpcFault,
  wrongId: (async (call) => ({ ...(await call.forward()), id: 'another' })) satisfies RpcFault,
  /** A node that says that it is behind. */
  unhealthy: (async ({ id }) => ({
    jsonrpc: '2.0',
    id,
    error: { code: -32_005, message: 'Node is behind by 42 slots' },
  })) satisfies RpcFault,
  /** Answers every call with this error. */
  refuses:
    (code: number): RpcFault =>
    async ({ id }) => ({ jsonrpc: '2.0', id, error: { code, message: 'refused' } }),
  neverAnswers: (() => new Promise<never>(() => undefined)) satisfies RpcFault,
  /** Belongs to another cluster. */
  otherCluster: onlyFor(
    ['getGenesisHash'],
    changed(() => 'So11111111111111111111111111111111111111112'),
  ),
} as const;
