import {
  PublicKey,
  type AccountInfo,
  type FetchFn,
  type SignatureStatus,
  type TransactionError,
} from '@solana/web3.js';
import { request } from 'undici';
import * as z from 'zod';
import { createDeadline } from '@agent-rental/contract';
import { isTraced, traced } from '../platform/tracing/spans.js';

const CALL_TIMEOUT_MS = 15_000;

/** Answers with a context, as most methods give them. */
const inContext = <T extends z.ZodType>(value: T) =>
  z.object({ context: z.object({ slot: z.number() }), value });

// The error of the cluster: a name, or a name with its details (agave, `TransactionError`).
const transactionError = z.union([
  z.string(),
  z.record(z.string(), z.unknown()),
]) as z.ZodType<TransactionError>;

const accounts = inContext(
  z.array(
    z
      .object({
        lamports: z.number(),
        owner: z.string(),
        executable: z.boolean(),
        data: z.tuple([z.string(), z.literal('base64')]),
      })
      .nullable(),
  ),
);

const simulation = inContext(
  z.object({ err: transactionError.nullable(), logs: z.array(z.string()).nullable() }),
);

/** JSON-RPC 2.0. */
const METHOD_NOT_FOUND = -32_601;

// Null on a cluster that has not moved.
const genesisCert = z.object({ migrated: z.unknown() }).nullable();

const statuses = inContext(
  z.array(
    z
      .object({
        slot: z.number(),
        confirmations: z.number().nullable(),
        err: transactionError.nullable(),
        // Not there, or null, on nodes that do not know it.
        confirmationStatus: z.enum(['processed', 'confirmed', 'finalized']).nullish(),
      })
      .nullable(),
  ),
);

/** One POST of a JSON-RPC request, and the text of its answer. Rejects where the endpoint cannot be reached. */
export type Exchange = (body: string) => Promise<{ statusCode: number; text: string }>;

/** The calls that each run makes. All throw where the endpoint cannot be reached, or answers with an error. */
export interface Rpc {
  getMultipleAccounts(
    addresses: readonly PublicKey[],
    commitment: 'confirmed' | 'finalized',
    /** The endpoint answers with an error while it has not reached this slot. */
    minContextSlot?: bigint,
  ): Promise<{ slot: number; accounts: (AccountInfo<Buffer> | null)[] }>;
  /** Whether the cluster has moved to Alpenglow (`getAgGenesisCert`, Agave 4.3). Older nodes do not know the call. */
  hasFastFinality(): Promise<boolean>;
  /** Runs a transaction without checking its signatures, on a recent blockhash. */
  simulateTransaction(
    wire: Uint8Array,
    commitment: 'confirmed' | 'finalized',
  ): Promise<{ err: TransactionError | null; logs: string[] | null }>;
  getSignatureStatuses(
    signatures: readonly string[],
    searchHistory: boolean,
  ): Promise<{ slot: number; statuses: (SignatureStatus | null)[] }>;
}

/** An endpoint's well-formed answer that a call failed. */
export class RpcAnswerError extends Error {
  override readonly name = 'RpcAnswerError';
  /** Of JSON-RPC; undefined where the error has none. */
  readonly code: number | undefined;

  constructor(method: string, error: unknown) {
    super(`${method}: ${JSON.stringify(error)}`);
    const code: unknown =
      typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
    this.code = typeof code === 'number' ? code : undefined;
  }
}

/** Makes those calls without web3.js, whose reading of the answers takes longer than the calls. */
export function createRpc(exchange: Exchange): Rpc {
  let calls = 0;
  async function call<T extends z.ZodType>(
    method: string,
    params: unknown[],
    result: T,
  ): Promise<z.output<T>> {
    calls += 1;
    const body = JSON.stringify({ jsonrpc: '2.0', id: calls, method, params });
    const { text } = await exchange(body);
    const answer = JSON.parse(text) as { result?: unknown; error?: unknown };
    if (answer.error != null) throw new RpcAnswerError(method, answer.error);
    return result.parse(answer.result);
  }
  return {
    async getMultipleAccounts(addresses, commitment, minContextSlot) {
      const keys = addresses.map((address) => address.toBase58());
      const { context, value } = await call(
        'getMultipleAccounts',
        [keys, { encoding: 'base64', commitment, ...atLeast(minContextSlot) }],
        accounts,
      );
      const found = value.map((account) => {
        if (account === null) return null;
        const { lamports, owner, executable, data } = account;
        return { lamports, owner: new PublicKey(owner), executable, data: Buffer.from(data[0], 'base64') };
      });
      return { slot: context.slot, accounts: found };
    },
    async hasFastFinality() {
      try {
        return (await call('getAgGenesisCert', [], genesisCert)) !== null;
      } catch (error) {
        if (error instanceof RpcAnswerError && error.code === METHOD_NOT_FOUND) return false;
        throw error;
      }
    },
    async simulateTransaction(wire, commitment) {
      const options = {
        encoding: 'base64',
        commitment,
        sigVerify: false,
        replaceRecentBlockhash: true,
      };
      const transaction = Buffer.from(wire).toString('base64');
      return (await call('simulateTransaction', [transaction, options], simulation)).value;
    },
    async getSignatureStatuses(signatures, searchTransactionHistory) {
      const params = [signatures, { searchTransactionHistory }];
      const { context, value } = await call('getSignatureStatuses', params, statuses);
      const found = value.map((status) => {
        if (status === null) return null;
        const { confirmationStatus, ...known } = status;
        return confirmationStatus == null ? known : { ...known, confirmationStatus };
      });
      return { slot: context.slot, statuses: found };
    },
  };
}

const atLeast = (minContextSlot: bigint | undefined) =>
  minContextSlot === undefined ? {} : { minContextSlot: Number(minContextSlot) };

/** The answer of an endpoint, with the headers that say when to come back. */
interface PostAnswer {
  statusCode: number;
  text: string;
  headers: Record<string, string | string[] | undefined>;
}

/** POSTs a JSON-RPC request. Without streams on both sides, a call costs a third of the time. */
export async function postJson(
  url: string,
  body: string,
  timeoutMs: number = CALL_TIMEOUT_MS,
): Promise<PostAnswer> {
  if (!isTraced()) return post(url, body, timeoutMs);
  const [, method = 'batch'] = /^\{(?:[^[{]*,)?"method":"(\w{1,60})"/.exec(body.slice(0, 200)) ?? [];
  const attributes = {
    'rpc.system': 'jsonrpc',
    'rpc.method': method,
    'server.address': new URL(url).hostname,
  };
  return traced(`rpc ${method}`, { kind: 'client', attributes }, () => post(url, body, timeoutMs));
}

async function post(url: string, body: string, timeoutMs: number): Promise<PostAnswer> {
  const deadline = createDeadline(timeoutMs);
  try {
    const headers = { 'content-type': 'application/json' };
    const answer = await request(url, { method: 'POST', headers, body, signal: deadline.signal });
    return { statusCode: answer.statusCode, headers: answer.headers, text: await answer.body.text() };
  } finally {
    deadline.clear();
  }
}

/** `fetch` as far as web3.js uses it, for all other calls. */
export const fetchFrom =
  (exchange: Exchange) =>
  async (...[, init]: Parameters<FetchFn>): Promise<Response> => {
    const { statusCode, text } = await exchange(init?.body as string);
    const answer = { ok: statusCode === 200, status: statusCode, statusText: '', text: async () => text };
    return answer as Response;
  };
