import { Keypair } from '@solana/web3.js';
import { beforeAll, describe, expect, inject, it } from 'vitest';
import { attach, type Marketplace } from '../support/marketplace.js';
import {
  callChain,
  loadX402,
  newX402Client,
  paidBy,
  requiredBy,
  usdcOf,
} from '../support/pay-per-call/x402-client.js';

const packages = await loadX402().catch((error: Error) => error);
if (packages instanceof Error) process.stderr.write(`@x402/fetch was NOT RUN: ${packages.message}\n`);

let marketplace: Marketplace;
let url: string;
let call: RequestInit;

beforeAll(async () => {
  marketplace = await attach(inject('stateDir'));
  url = `${marketplace.dev.base_url}/v1/execute`;
  const body = JSON.stringify(await marketplace.request('per_query'));
  call = { method: 'POST', headers: { 'content-type': 'application/json' }, body };
});

/** A wallet with USDC alone, and its stock client. */
async function newPayer(units = 20_000_000) {
  if (packages instanceof Error) throw packages;
  const wallet = Keypair.generate();
  await callChain(marketplace.dev.rpc_url, 'localchain_airdropUsdc', wallet.publicKey.toBase58(), units);
  return { wallet, ...(await newX402Client(packages, wallet, marketplace.dev.rpc_url)) };
}

const unitsOf = (wallet: Keypair) => usdcOf(marketplace.dev.rpc_url, wallet.publicKey.toBase58());

describe.runIf(!(packages instanceof Error))('@x402/fetch with @x402/svm', () => {
  it('gets an answer for USDC within 5 s, from a wallet without an account and without SOL', async () => {
    const payer = await newPayer();
    const began = performance.now();
    const response = await payer.fetch(url, call);
    const tookMs = performance.now() - began;
    const body = (await response.json()) as { status: string; run_id: string };
    expect([response.status, body]).toMatchObject([200, { status: 'completed' }]);
    expect(tookMs).toBeLessThan(5_000);
    const receipt = JSON.parse(
      Buffer.from(response.headers.get('payment-response') ?? '', 'base64').toString(),
    ) as Record<string, string>;
    expect(receipt).toMatchObject({ success: true, payer: payer.wallet.publicKey.toBase58() });
    expect(await unitsOf(payer.wallet)).toBe(20_000_000n - BigInt(receipt['amount'] ?? 0));
  });

  it('pays once for one payload that is sent many times, and gets equal answers', async () => {
    const payer = await newPayer();
    const required = requiredBy(await fetch(url, call));
    const payload = await payer.client.createPaymentPayload(required);
    const headers = { ...(call.headers as Record<string, string>), ...paidBy(payload) };
    const answers = await Promise.all(
      Array.from({ length: 10 }, async () => {
        const response = await fetch(url, { ...call, headers });
        return [response.status, ((await response.json()) as { run_id?: string }).run_id];
      }),
    );
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
    expect(answers[0]?.[0]).toBe(200);
    const [accepted] = required.accepts;
    expect(await unitsOf(payer.wallet)).toBe(20_000_000n - BigInt(accepted?.amount ?? 0));
  });
});
