import {
  PublicKey,
  type AccountInfo,
  type FetchFn,
  type SignatureStatus,
  type TransactionError,
} from '@solana/web3.js';
import { request } from 'undici';
import * as z from 'zod';
import { createDeadline } from '../platform/deadline.js';

const CALL_TIMEOUT_MS = 15_000;

/** Answers with a context, as most methods give them. */
const inContext = <T extends z.ZodType>(value: T) =>
  z.object({ context: z.object({ slot: z.number() }), value });

// What the cluster says went wrong: a name, or a name with its details (agave, `TransactionError`).
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

/** The calls that each run makes. All throw where the endpoint cannot be reached, or answers with an error. */
export interface Rpc {
  getMultipleAccounts(
    addresses: readonly PublicKey[],
    commitment: 'confirmed' | 'finalized',
  ): Promise<{ slot: number; accounts: (AccountInfo<Buffer> | null)[] }>;
  /** Runs a transaction without checking its signatures, on a recent blockhash in place of its own. */
  simulateTransaction(wire: Uint8Array): Promise<{ err: TransactionError | null; logs: string[] | null }>;
  getSignatureStatuses(
    signatures: readonly string[],
    searchHistory: boolean,
  ): Promise<(SignatureStatus | null)[]>;
}

/** Makes those calls without web3.js, whose reading of the answers takes longer than the calls. */
export function createRpc(rpcUrl: string, callTimeoutMs = CALL_TIMEOUT_MS): Rpc {
  let calls = 0;
  async function call<T extends z.ZodType>(
    method: string,
    params: unknown[],
    result: T,
  ): Promise<z.output<T>> {
    calls += 1;
    const body = JSON.stringify({ jsonrpc: '2.0', id: calls, method, params });
    const { text } = await post(rpcUrl, { 'content-type': 'application/json' }, body, callTimeoutMs);
    const answer = JSON.parse(text) as { result?: unknown; error?: unknown };
    if (answer.error != null) throw new Error(`${method}: ${JSON.stringify(answer.error)}`);
    return result.parse(answer.result);
  }
  return {
    async getMultipleAccounts(addresses, commitment) {
      const keys = addresses.map((address) => address.toBase58());
      const { context, value } = await call(
        'getMultipleAccounts',
        [keys, { encoding: 'base64', commitment }],
        accounts,
      );
      const found = value.map((account) => {
        if (account === null) return null;
        const { lamports, owner, executable, data } = account;
        return { lamports, owner: new PublicKey(owner), executable, data: Buffer.from(data[0], 'base64') };
      });
      return { slot: context.slot, accounts: found };
    },
    async simulateTransaction(wire) {
      const options = {
        encoding: 'base64',
        commitment: 'confirmed',
        sigVerify: false,
        replaceRecentBlockhash: true,
      };
      const transaction = Buffer.from(wire).toString('base64');
      return (await call('simulateTransaction', [transaction, options], simulation)).value;
    },
    async getSignatureStatuses(signatures, searchTransactionHistory) {
      const params = [signatures, { searchTransactionHistory }];
      const { value } = await call('getSignatureStatuses', params, statuses);
      return value.map((status) => {
        if (status === null) return null;
        const { confirmationStatus, ...known } = status;
        return confirmationStatus == null ? known : { ...known, confirmationStatus };
      });
    },
  };
}

/** Without streams on both sides, a call costs a third of the time. */
async function post(
  url: string,
  headers: Record<string, string>,
  body: string,
  timeoutMs = CALL_TIMEOUT_MS,
): Promise<{ statusCode: number; text: string }> {
  const deadline = createDeadline(timeoutMs);
  try {
    const answer = await request(url, { method: 'POST', headers, body, signal: deadline.signal });
    return { statusCode: answer.statusCode, text: await answer.body.text() };
  } finally {
    deadline.clear();
  }
}

/** `fetch` as far as web3.js uses it, for all other calls. */
export const fetchFrom =
  (rpcUrl: string) =>
  async (...[, init]: Parameters<FetchFn>): Promise<Response> => {
    const { statusCode, text } = await post(
      rpcUrl,
      init?.headers as Record<string, string>,
      init?.body as string,
    );
    const answer = { ok: statusCode === 200, status: statusCode, statusText: '', text: async () => text };
    return answer as Response;
  };
