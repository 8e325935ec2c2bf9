import { execFile } from 'node:child_process';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createClient, type ClientOptions } from '@agent-rental/sdk';
import { callPayer, keypairSigner, type CallPayerOptions } from '@agent-rental/sdk/solana';
import { rentedToolset } from '@agent-rental/tools';
import { Connection, type Keypair } from '@solana/web3.js';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { blocksOf } from '../docs/commands.js';
import { PRICE, publishProgram, rentAgent } from '../support/agents/agents.js';
import { call } from '../support/http.js';
import { attach, type Marketplace } from '../support/marketplace.js';
import { newParticipant } from '../support/participant.js';
import { newRenter, type Renter } from '../support/renter.js';
import { ROOT } from '../docs/repository.js';

const execute = promisify(execFile);
/** The fees of the payer's and of the till's transaction. */
const FEES = 10_000;
const LIMITS = { maxPaymentLamports: 20_000_000n, maxDayLamports: 100_000_000n };

let marketplace: Marketplace;
let connection: Connection;
let agentId: string;

beforeAll(async () => {
  marketplace = await attach(inject('stateDir'));
  connection = new Connection(marketplace.dev.rpc_url, 'confirmed');
  agentId = await publishProgram(marketplace, await newParticipant(marketplace), 'return { task };');
});

const lamportsOf = (wallet: Keypair) => connection.getBalance(wallet.publicKey);

/** A client without an account, whose new wallet pays. */
async function newPayingClient(limits: Partial<CallPayerOptions> = {}, options: Partial<ClientOptions> = {}) {
  const renter = await newRenter(marketplace);
  const payPerCall = callPayer({ signer: keypairSigner(renter.wallet), ...LIMITS, ...limits });
  const client = createClient({ baseUrl: marketplace.dev.base_url, payPerCall, retries: 0, ...options });
  return { ...renter, client };
}

async function runsOf({ token }: Renter): Promise<unknown> {
  return (await call(marketplace, 'GET', '/v1/runs', { token })).body['runs'];
}

describe('a client that pays per call', () => {
  test('gets an answer without an account, and pays the price and the fees alone for the next one', async () => {
    const { client, wallet } = await newPayingClient();
    const first = await client.execute({ agent_id: agentId, task: 'one' });
    expect(first).toMatchObject({ status: 'completed', output: { task: 'one' }, cost_lamports: PRICE });
    const before = await lamportsOf(wallet);
    const second = await client.execute({ agent_id: agentId, task: 'two' });
    expect(second).toMatchObject({ status: 'completed', output: { task: 'two' } });
    expect(await lamportsOf(wallet)).toBe(before - PRICE - FEES);
  });

  test('waits for a run that it paid for, reads its receipt, and streams', async () => {
    const { client } = await newPayingClient();
    const { run_id: runId } = await client.executeAsync({ agent_id: agentId, task: 'later' });
    expect(await client.waitForRun(runId)).toMatchObject({ status: 'completed', output: { task: 'later' } });
    expect(await client.getReceipt(runId)).toMatchObject({ receipt: { run_id: runId } });
    const events: string[] = [];
    for await (const event of client.executeStream({ agent_id: agentId, task: 'streamed' })) {
      events.push(event.event === 'done' ? event.data.status : event.event);
    }
    expect(events.at(-1)).toBe('completed');
  });

  test('asks for a lost answer with the same payment', async () => {
    let losses = 0;
    const losing: typeof fetch = async (input, init) => {
      const response = await fetch(input, init);
      const isPaid = new Headers(init?.headers).get('authorization')?.startsWith('Payment ');
      if (!isPaid || losses === 2) return response;
      losses += 1;
      await response.text();
      throw new TypeError('The connection was lost.');
    };
    const payer = await newPayingClient({}, { fetch: losing, retries: 1 });
    const given = { idempotencyKey: 'a-lost-answer' };
    const asked = { agent_id: agentId, task: 'lost' };
    await expect(payer.client.execute(asked, given)).rejects.toMatchObject({ name: 'ConnectionError' });
    const paid = await lamportsOf(payer.wallet);
    expect(await payer.client.execute(asked, given)).toMatchObject({ output: { task: 'lost' } });
    expect(losses).toBe(2);
    expect(await lamportsOf(payer.wallet)).toBe(paid);
    expect(await runsOf(payer)).toHaveLength(1);
  });

  test('pays nothing beyond its limits', async () => {
    const payer = await newPayingClient({ maxPaymentLamports: BigInt(PRICE) });
    const before = await lamportsOf(payer.wallet);
    await expect(payer.client.execute({ agent_id: agentId, task: 'dear' })).rejects.toMatchObject({
      name: 'UntrustedTransactionError',
      reason: 'limit',
    });
    expect(await lamportsOf(payer.wallet)).toBe(before);
    expect(await runsOf(payer)).toEqual([]);
  });

  test('with a login uses its rental, and pays where it has none', async () => {
    const renter = await newParticipant(marketplace);
    await rentAgent(renter, agentId, 1);
    const options = { baseUrl: marketplace.dev.base_url, signer: renter.signer };
    const client = createClient({ ...options, payPerCall: callPayer({ signer: renter.signer, ...LIMITS }) });
    const before = await lamportsOf(renter.wallet);
    const run = { agent_id: agentId, task: 'rented' };
    expect(await client.execute(run)).toMatchObject({ status: 'completed' });
    expect(await lamportsOf(renter.wallet)).toBe(before);
    expect(await client.execute(run)).toMatchObject({ status: 'completed' });
    expect(await lamportsOf(renter.wallet)).toBe(before - PRICE - FEES);
  });

  test('would be served where a tool of an agent that is not rented says so', async () => {
    const { client } = await newParticipant(marketplace);
    const tool = await rentedToolset(client).find('run_agent');
    const refused = await tool?.invoke({ agent_id: agentId, task: 't' });
    expect(refused?.error?.payPerCall).toMatchObject({ priceLamports: PRICE });
    const response = await fetch(refused?.error?.payPerCall?.url ?? '', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ agent_id: agentId, task: 't' }),
    });
    expect(response.status).toBe(402);
  });

  test('is refused as before by an agent that is not sold by the call', async () => {
    const { client } = await newPayingClient();
    const oneTime = marketplace.listing('one_time').id;
    await expect(client.execute({ agent_id: oneTime, task: 'x' })).rejects.toMatchObject({ status: 401 });
  });

  test('is the program of the documents', async () => {
    const { wallet } = await newRenter(marketplace);
    const program = blocksOf('docs/pay-per-call.md').find(({ language }) => language === 'js sdk');
    const folder = await mkdtemp(join(tmpdir(), 'paying-client-'));
    try {
      await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'), 'dir');
      await writeFile(join(folder, 'pay-sdk.mjs'), program?.code ?? '');
      await writeFile(join(folder, 'wallet.json'), JSON.stringify([...wallet.secretKey]));
      const given = ['wallet.json', marketplace.dev.base_url, agentId, 'from the documents'];
      const { stdout } = await execute(process.execPath, ['pay-sdk.mjs', ...given], { cwd: folder });
      expect(stdout).toBe('completed {"task":"from the documents"}\n');
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
