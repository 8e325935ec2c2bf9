import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import {
  Keypair,
  type PublicKey,
  SystemProgram,
  TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js';
import { beforeAll, describe, expect, inject, it } from 'vitest';
import { blocksOf } from '../docs/commands.js';
import { schemaViolations } from '@agent-rental/server/testing';
import { publishProgram } from '../support/agents/agents.js';
import { call as callApi, login } from '../support/http.js';
import { attach, type Marketplace } from '../support/marketplace.js';
import { newParticipant } from '../support/participant.js';
import {
  callChain,
  loadX402,
  newX402Client,
  paidBy,
  requiredBy,
  usdcOf,
  X402_PACKAGES,
  x402Folder,
  type PaymentPayload,
} from '../support/pay-per-call/x402-client.js';

const run = promisify(execFile);
const packages = await loadX402().catch((error: Error) => error);
if (packages instanceof Error) process.stderr.write(`@x402/fetch was NOT RUN: ${packages.message}\n`);

let marketplace: Marketplace;
let url: string;
let call: { method: string; headers: Record<string, string>; body: string };

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

  it('describes its call for catalogs of paid services, by the schema that it gives', async () => {
    const { extensions } = requiredBy(await fetch(url, call));
    const { info, schema } = (extensions as { bazaar: { info: { input: object }; schema: object } }).bazaar;
    expect(schemaViolations(schema, info)).toEqual([]);
    expect(schemaViolations(schema, { ...info, input: { ...info.input, method: 'GET' } })).not.toEqual([]);
    const { agent_id: agentId } = JSON.parse(call.body) as { agent_id: string };
    expect(info.input).toMatchObject({ type: 'http', method: 'POST', body: { agent_id: agentId } });
  });

  it('is paid by the program of the documents, from a wallet with test USDC as they give it', async () => {
    const blocks = blocksOf('docs/pay-per-call.md');
    const blockIn = (name: string) => blocks.find(({ language }) => language === name)?.code ?? '';
    for (const named of X402_PACKAGES) expect(blockIn('sh usdc')).toContain(named);
    const folder = await x402Folder();
    const wallet = Keypair.generate();
    const address = wallet.publicKey.toBase58();
    const give = blockIn('sh usdc-test')
      .replace('RPC_URL', marketplace.dev.rpc_url)
      .replace('WALLET', address);
    await run('sh', ['-c', give]);
    const [program, keypair] = [join(folder, 'pay-usdc.mjs'), join(folder, `${address}.json`)];
    await writeFile(program, blockIn('js usdc'));
    await writeFile(keypair, JSON.stringify([...wallet.secretKey]));
    const agentId = await publishProgram(marketplace, await newParticipant(marketplace), 'return { task };');
    const given = [keypair, marketplace.dev.base_url, agentId, 'by USDC', marketplace.dev.rpc_url];
    const { stdout } = await run(process.execPath, [program, ...given]);
    expect(stdout).toMatch(/^200 .*"output":{"task":"by USDC"}/);
    await rm(keypair);
  });

  it('that is sent 50 times at once is one run, one charge and 50 equal answers', async () => {
    const payer = await newPayer();
    const required = requiredBy(await fetch(url, call));
    const payload = await payer.client.createPaymentPayload(required);
    const answers = await Promise.all(
      Array.from({ length: 50 }, async () => {
        const response = await send(payload);
        const { joined: _, ...told } = (await response.json()) as Record<string, unknown>;
        return { status: response.status, told, receipt: response.headers.get('payment-response') };
      }),
    );
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
    expect(answers[0]).toMatchObject({ status: 200, told: { status: 'completed' } });
    const [accepted] = required.accepts;
    expect(await unitsOf(payer.wallet)).toBe(20_000_000n - BigInt(accepted?.amount ?? 0));
    const token = await login(marketplace, payer.wallet);
    const { body: page } = await callApi(marketplace, 'GET', '/v1/runs', { token });
    expect(page['runs']).toHaveLength(1);
  });

  it('pays once under one payment identifier, also by a new quote', async () => {
    const payer = await newPayer();
    const id = `pay_${randomUUID()}`;
    const answers: unknown[] = [];
    for (let time = 0; time < 2; time += 1) {
      const payload = await payer.client.createPaymentPayload(requiredBy(await fetch(url, call)));
      const extensions = { 'payment-identifier': { info: { required: false, id } } };
      const response = await send({ ...payload, extensions });
      answers.push([response.status, ((await response.json()) as { run_id: string }).run_id]);
    }
    expect(answers[0]).toEqual(answers[1]);
    expect(answers[0]).toMatchObject([200, expect.any(String)]);
    expect(await unitsOf(payer.wallet)).toBeGreaterThan(20_000_000n - 2n * (await priceUnits()));
  });

  it('reads its run by the payment, and no other run', async () => {
    const payer = await newPayer();
    const payload = await payer.client.createPaymentPayload(requiredBy(await fetch(url, call)));
    const { run_id: runId } = (await (await send(payload)).json()) as { run_id: string };
    const runUrl = `${marketplace.dev.base_url}/v1/runs/${runId}`;
    expect((await fetch(runUrl, { headers: paidBy(payload) })).status).toBe(200);
    const other = await newPayer();
    const foreign = await other.client.createPaymentPayload(requiredBy(await fetch(url, call)));
    expect((await send(foreign)).status).toBe(200);
    expect((await fetch(runUrl, { headers: paidBy(foreign) })).status).toBe(404);
  });

  it.each<[string, string, Change]>([
    ['too little', 'amount_mismatch', ([, , transfer]) => void transfer!.data.writeUInt32LE(1, 1)],
    [
      'another mint',
      'mint_mismatch',
      ([, , transfer]) => void (transfer!.keys[1]!.pubkey = Keypair.generate().publicKey),
    ],
    [
      'another recipient',
      'recipient_mismatch',
      ([, , transfer]) => void (transfer!.keys[2]!.pubkey = Keypair.generate().publicKey),
    ],
    [
      'the memo of another quote',
      'memo_mismatch',
      ([, , , memo]) => void memo!.data.writeUInt8(memo!.data.readUInt8() ^ 1),
    ],
    [
      'one more instruction',
      'unknown_optional_instruction',
      (instructions, { payer }) =>
        void instructions.push(SystemProgram.transfer({ fromPubkey: payer, toPubkey: payer, lamports: 1 })),
    ],
    [
      'a fee payer that would pay',
      'unknown_optional_instruction',
      (instructions, { payer, till }) =>
        void instructions.push(SystemProgram.transfer({ fromPubkey: till, toPubkey: payer, lamports: 1 })),
    ],
  ])('is refused with %s, and nothing is taken', async (_, reason, change) => {
    const payer = await newPayer();
    const till = await tillUnits();
    const payload = await payer.client.createPaymentPayload(requiredBy(await fetch(url, call)));
    await expectRefusal(await send(altered(payload, payer.wallet, change)), reason);
    expect(await unitsOf(payer.wallet)).toBe(20_000_000n);
    expect(await tillUnits()).toBe(till);
  });

  it('is refused with a blockhash that has ended, too few tokens, or the quote of another listing', async () => {
    const payer = await newPayer();
    const required = requiredBy(await fetch(url, call));
    const [accepted] = required.accepts;
    const recentBlockhash = Keypair.generate().publicKey.toBase58();
    const dead = { ...required, accepts: [{ ...accepted!, extra: { ...accepted!.extra, recentBlockhash } }] };
    await expectRefusal(await send(await payer.client.createPaymentPayload(dead)), 'verification_failed');

    const poor = await newPayer(1);
    const unpaid = await poor.client.createPaymentPayload(requiredBy(await fetch(url, call)));
    await expectRefusal(await send(unpaid), 'verification_failed');

    const payload = await payer.client.createPaymentPayload(required);
    const body = JSON.stringify({
      ...JSON.parse(call.body),
      agent_id: marketplace.listing('one_time').id,
    });
    const elsewhere = await fetch(url, { ...call, headers: { ...call.headers, ...paidBy(payload) }, body });
    expect(elsewhere.status).toBe(402);
    expect(await unitsOf(payer.wallet)).toBe(20_000_000n);
  });

  it('is refused with bytes that are no payment', async () => {
    const payer = await newPayer();
    const payload = await payer.client.createPaymentPayload(requiredBy(await fetch(url, call)));
    const [accepted] = [payload.accepted];
    const forged = `${accepted.extra.quote.slice(0, -2)}AA`;
    for (const bad of [
      {},
      { ...payload, x402Version: 1 },
      { ...payload, accepted: { ...accepted, extra: { ...accepted.extra, quote: forged } } },
      { ...payload, accepted: { ...accepted, network: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp' } },
      { ...payload, payload: { transaction: 'AAAA' } },
    ]) {
      expect((await send(bad)).status).toBe(402);
    }
    const broken = await fetch(url, { ...call, headers: { ...call.headers, 'PAYMENT-SIGNATURE': 'x' } });
    expect(broken.status).toBe(402);
  });
});

type Change = (
  instructions: TransactionInstruction[],
  wallets: { payer: PublicKey; till: PublicKey },
) => void;

/** The payload with other instructions, signed anew by its payer. */
function altered(payload: PaymentPayload, wallet: Keypair, change: Change): PaymentPayload {
  const bytes = Buffer.from(payload.payload.transaction, 'base64');
  const message = TransactionMessage.decompile(VersionedTransaction.deserialize(bytes).message);
  const instructions = message.instructions.map(
    ({ programId, keys, data }) => new TransactionInstruction({ programId, keys, data: Buffer.from(data) }),
  );
  change(instructions, { payer: wallet.publicKey, till: message.payerKey });
  const transaction = new VersionedTransaction(
    new TransactionMessage({
      payerKey: message.payerKey,
      recentBlockhash: message.recentBlockhash,
      instructions,
    }).compileToV0Message(),
  );
  transaction.sign([wallet]);
  return { ...payload, payload: { transaction: Buffer.from(transaction.serialize()).toString('base64') } };
}

const send = (payload: object) => fetch(url, { ...call, headers: { ...call.headers, ...paidBy(payload) } });

const priceUnits = async () => BigInt(requiredBy(await fetch(url, call)).accepts[0]?.amount ?? 0);

const tillUnits = async () => {
  const [accepted] = requiredBy(await fetch(url, call)).accepts;
  return usdcOf(marketplace.dev.rpc_url, accepted?.payTo ?? '');
};

async function expectRefusal(response: Response, reason: string) {
  expect(response.status).toBe(402);
  expect(requiredBy(response).error).toContain(reason);
}
