import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { Keypair } from '@solana/web3.js';
import { beforeAll, expect, inject, it, onTestFinished } from 'vitest';
import { publishProgram } from '../support/agents/agents.js';
import { IS_QUICK } from '../support/form.js';
import { call } from '../support/http.js';
import { attach, type Marketplace } from '../support/marketplace.js';
import { newParticipant, type Participant } from '../support/participant.js';
import { loadMppClient } from '../support/pay-per-call/mpp-packages.js';
import {
  callChain,
  loadX402,
  newX402Client,
  usdcOf,
  type PaymentRequired,
} from '../support/pay-per-call/x402-client.js';
import { newRenter } from '../support/renter.js';

const mpp = await loadMppClient().catch((error: Error) => error);
const x402 = await loadX402().catch((error: Error) => error);
for (const missing of [mpp, x402])
  if (missing instanceof Error) process.stderr.write(`A client was NOT RUN: ${missing.message}\n`);

const PAID = { status: 'completed' };

let marketplace: Marketplace;
let caller: Participant;
let agentId: string;

beforeAll(async () => {
  marketplace = await attach(inject('stateDir'));
  agentId = await publishProgram(marketplace, await newParticipant(marketplace), 'return { task };');
  caller = await newParticipant(marketplace);
});

async function connect(): Promise<Client> {
  const client = new Client({ name: 'payer', version: '1.0.0' });
  const headers = { authorization: `Bearer ${caller.token}` };
  const url = new URL(`${marketplace.dev.base_url}/mcp`);
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
  onTestFinished(() => client.close());
  return client;
}

const run = (task: string, meta: Record<string, unknown> = {}) => ({
  name: 'run_agent',
  arguments: { agent_id: agentId, task },
  _meta: meta,
});

it.skipIf(IS_QUICK && mpp instanceof Error)(
  'an agent is paid for over MCP by the stock client of MPP',
  async () => {
    if (mpp instanceof Error) throw mpp;
    const { wallet } = await newRenter(marketplace);
    const signer = await mpp.createKeyPairSignerFromBytes(wallet.secretKey);
    const client = mpp.McpClient.wrap(await connect(), { methods: [mpp.charge({ signer })] });
    const answer = await client.callTool(run('by MPP'));
    expect(answer).toMatchObject({
      structuredContent: { output: { task: 'by MPP' } },
      receipt: { method: 'solana', status: 'success' },
      _meta: { 'agent-rental/run': PAID },
    });
    // The balance is the payer's: the caller has no rental still.
    const { body } = await call(marketplace, 'GET', '/v1/credentials', { token: caller.token });
    expect(body).toMatchObject({ credentials: [] });
  },
);

it.skipIf(IS_QUICK && x402 instanceof Error)('an agent is paid for over MCP by x402', async () => {
  if (x402 instanceof Error) throw x402;
  const rpcUrl = marketplace.dev.rpc_url;
  const wallet = Keypair.generate();
  const address = wallet.publicKey.toBase58();
  await callChain(rpcUrl, 'localchain_airdropUsdc', address, 20_000_000);
  const payer = await newX402Client(x402, wallet, rpcUrl);
  const client = await connect();
  const refused = await client.callTool(run('by x402'));
  expect(refused).toMatchObject({ isError: true, structuredContent: { x402Version: 2 } });
  const payload = await payer.client.createPaymentPayload(refused.structuredContent as PaymentRequired);
  const paid = run('by x402', { 'x402/payment': payload });
  const answers = [await client.callTool(paid), await client.callTool(paid)];
  for (const answer of answers)
    expect(answer).toMatchObject({
      structuredContent: { output: { task: 'by x402' } },
      _meta: { 'x402/payment-response': { success: true, payer: address } },
    });
  const [accepted] = (refused.structuredContent as PaymentRequired).accepts;
  expect(await usdcOf(rpcUrl, address)).toBe(20_000_000n - BigInt(accepted?.amount ?? 0));
});

it('a payment over MCP that is not ours is refused, and asked for anew', async () => {
  const client = await connect();
  const answer = await client.callTool(
    run('forged', { 'org.paymentauth/credential': { challenge: { id: 'x', request: {} }, payload: {} } }),
  );
  expect(answer).toMatchObject({
    isError: true,
    _meta: {
      'agent-rental/error': { status: 402 },
      'org.paymentauth/payment-required': { challenges: [{ method: 'solana', intent: 'charge' }] },
    },
  });
});
