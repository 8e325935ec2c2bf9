import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { npmTool } from '@agent-rental/stand-in/npm-tool';
import type { Keypair } from '@solana/web3.js';

/** The requirements of a payment, as x402 has them in a 402. */
export interface Accepted {
  scheme: string;
  network: string;
  amount: string;
  asset: string;
  payTo: string;
  extra: { feePayer: string; memo: string; quote: string };
}

/** The decoded header of a 402. */
export interface PaymentRequired {
  x402Version: number;
  error?: string;
  resource: { url: string };
  accepts: Accepted[];
  extensions?: Record<string, unknown>;
}

/** A payload for the header of a paid request. */
export interface PaymentPayload {
  accepted: Accepted;
  payload: { transaction: string };
  extensions?: Record<string, { info: { id?: string } }>;
}

interface StockClient {
  register(network: string, scheme: unknown): unknown;
  createPaymentPayload(required: PaymentRequired): Promise<PaymentPayload>;
}

/** The packages of x402 as they are published. */
interface Packages {
  x402Client: new () => StockClient;
  wrapFetchWithPayment(fetcher: typeof fetch, client: StockClient): typeof fetch;
  decodePaymentResponseHeader(header: string): { success: boolean; transaction: string; payer: string };
  ExactSvmScheme: new (signer: unknown, options: { rpcUrl: string }) => unknown;
  createKeyPairSignerFromBytes(bytes: Uint8Array): Promise<unknown>;
}

/** The packages that npm installs beside `@x402/fetch`. */
const BESIDE = ['@x402/svm@2.27.0', '@solana/kit@6.10.0'];
export const X402_PACKAGES = ['@x402/fetch@2.27.0', ...BESIDE];

const entryOfX402 = () => npmTool('@x402/fetch', '2.27.0', 'dist/esm/index.mjs', BESIDE);

/** The folder in which they are installed. */
export const x402Folder = async () => join(dirname(await entryOfX402()), '../../../../..');

/** Loads `@x402/fetch` with `@x402/svm`. @throws Error when npm cannot install them. */
export async function loadX402(): Promise<Packages> {
  const entry = await entryOfX402();
  const load = async (path: string) => (await import(path)) as Partial<Packages>;
  const beside = pathToFileURL(entry);
  const all = await Promise.all([
    load(beside.href),
    load(new URL('../../../svm/dist/esm/exact/client/index.mjs', beside).href),
    load(pathToFileURL(createRequire(entry).resolve('@solana/kit')).href),
  ]);
  return Object.assign({}, ...all) as Packages;
}

/** A stock client whose wallet pays, with nothing but the address of an RPC endpoint. */
export async function newX402Client(packages: Packages, wallet: Keypair, rpcUrl: string) {
  const signer = await packages.createKeyPairSignerFromBytes(wallet.secretKey);
  const client = new packages.x402Client();
  client.register('solana:*', new packages.ExactSvmScheme(signer, { rpcUrl }));
  return { client, fetch: packages.wrapFetchWithPayment(fetch, client) };
}

/** The payment that a 402 asks for. */
export function requiredBy({ headers }: Pick<Response, 'headers'>): PaymentRequired {
  const header = headers.get('payment-required') ?? '';
  return JSON.parse(Buffer.from(header, 'base64').toString()) as PaymentRequired;
}

/** The header of a paid request. */
export const paidBy = (payload: object): Record<string, string> => ({
  'PAYMENT-SIGNATURE': Buffer.from(JSON.stringify(payload)).toString('base64'),
});

/** Calls a method of the chain. @throws Error with the chain's message. */
export async function callChain(rpcUrl: string, method: string, ...params: unknown[]): Promise<unknown> {
  const response = await fetch(rpcUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
  const { result, error } = (await response.json()) as { result?: unknown; error?: { message: string } };
  if (error) throw new Error(error.message);
  return result;
}

/** USDC that a wallet holds, in units of which 1,000,000 are one. */
export async function usdcOf(rpcUrl: string, wallet: string): Promise<bigint> {
  const mint = '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU';
  const { value } = (await callChain(
    rpcUrl,
    'getTokenAccountsByOwner',
    wallet,
    { mint },
    { encoding: 'jsonParsed', commitment: 'processed' },
  )) as {
    value: { account: { data: { parsed: { info: { tokenAmount: { amount: string } } } } } }[];
  };
  return value.reduce((sum, { account }) => sum + BigInt(account.data.parsed.info.tokenAmount.amount), 0n);
}
