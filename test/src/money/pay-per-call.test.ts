import { execFile } from 'node:child_process';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { pause, revoke } from '@agent-rental/sdk/solana';
import { ComputeBudgetProgram, Connection, Keypair, SystemProgram } from '@solana/web3.js';
import bs58 from 'bs58';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { blocksOf } from '../docs/commands.js';
import { publishIdleListing, publishProgram, PRICE, rentAgent } from '../support/agents/agents.js';
import { IS_QUICK } from '../support/form.js';
import { call, errorOf, login, type Answer } from '../support/http.js';
import {
  newStateDir,
  removeStateDir,
  startMarketplace,
  type OwnMarketplace,
} from '../support/marketplace.js';
import { newParticipant, type Participant } from '../support/participant.js';
import { BESIDE_MPP, loadMppClient, mppFolder } from '../support/pay-per-call/mpp-packages.js';
import {
  paymentChallenge,
  paymentCredential,
  signPayment,
  type PaymentChallenge,
  type PaymentChange,
} from '../support/payments.js';
import { newRenter } from '../support/renter.js';
import { until } from '../support/timing/until.js';

/** The unmodified clients of the protocol. */
const CLIENT = await loadMppClient().catch((error: Error) => error);
const run = promisify(execFile);
if (CLIENT instanceof Error) process.stderr.write(`@solana/mpp was NOT RUN: ${CLIENT.message}\n`);

/** Apart from other tests, which expect few listings. */
let marketplace: OwnMarketplace;
let connection: Connection;
let creator: Participant;
let agentId: string;

beforeAll(async () => {
  marketplace = await startMarketplace(await newStateDir());
  connection = new Connection(marketplace.dev.rpc_url, 'confirmed');
  creator = await newParticipant(marketplace);
  agentId = await publishProgram(marketplace, creator, 'return { task, n: input?.n };');
});
afterAll(async () => {
  await marketplace.stop();
  await removeStateDir(marketplace.stateDir);
});

const body = (fields: Record<string, unknown> = {}) => ({ agent_id: agentId, task: 'paid', ...fields });
const execute = (headers: Record<string, string> = {}, fields: Record<string, unknown> = {}) =>
  call(marketplace, 'POST', '/v1/execute', { body: body(fields), headers });
const pay = (credential: string, fields: Record<string, unknown> = {}) =>
  execute({ authorization: credential }, fields);
const ask = async (headers: Record<string, string> = {}): Promise<PaymentChallenge> =>
  paymentChallenge((await execute(headers)).headers);
const lamportsOf = (wallet: Keypair) => connection.getBalance(wallet.publicKey);

/** A wallet with a SOL, without an account. */
const newPayer = async () => (await newRenter(marketplace)).wallet;

async function paidCall(wallet: Keypair, headers: Record<string, string> = {}) {
  const challenge = await ask(headers);
  const credential = paymentCredential(challenge, signPayment(challenge, wallet));
  return { challenge, credential, answer: await pay(credential) };
}

/** A refusal by MPP, with a new challenge where the body names a listing. */
function expectRefusal(answer: Answer, problem: string): void {
  expect(answer).toMatchObject({
    status: 402,
    body: { type: `https://paymentauth.org/problems/${problem}`, error: { status: 402 } },
  });
  expect(paymentChallenge(answer.headers).amount).toBeGreaterThan(0n);
}

/** The rental of a wallet, once it logs in. */
async function rentalOf(wallet: Keypair): Promise<Record<string, unknown> | undefined> {
  const token = await login(marketplace, wallet);
  const { body: page } = await call(marketplace, 'GET', '/v1/credentials', { token });
  return (page['credentials'] as Record<string, unknown>[]).find((each) => each['listing_id'] === agentId);
}

describe('a call without an account', () => {
  test('is asked for a payment, and runs once it is paid', async () => {
    const asked = await execute();
    expect(asked.status).toBe(402);
    expect(asked.body).toMatchObject({
      type: 'https://paymentauth.org/problems/payment-required',
      status: 402,
      error: { code: 'insufficient_balance', status: 402, request_id: expect.any(String) as string },
    });
    const wallet = await newPayer();
    const { challenge, answer } = await paidCall(wallet);
    expect(answer).toMatchObject({
      status: 200,
      body: { status: 'completed', output: { task: 'paid' }, cost_lamports: PRICE },
    });
    const receipt = JSON.parse(
      Buffer.from(answer.headers.get('payment-receipt') ?? '', 'base64url').toString(),
    ) as Record<string, unknown>;
    expect(receipt).toMatchObject({
      method: 'solana',
      status: 'success',
      challengeId: challenge.params['id'],
    });
    // All that the run did not cost is the payer's: the balance is empty here, as the deposit is the price of one run.
    expect(await rentalOf(wallet)).toMatchObject({ status: 'low_balance', balance_lamports: 0 });
  });

  test.skipIf(IS_QUICK && CLIENT instanceof Error)(
    'is paid by the stock client in less than 5 s',
    async () => {
      if (CLIENT instanceof Error) throw CLIENT;
      const { Mppx, charge, createKeyPairSignerFromBytes } = CLIENT;
      const wallet = await newPayer();
      const signer = await createKeyPairSignerFromBytes(wallet.secretKey);
      const { fetch: payingFetch } = Mppx.create({ methods: [charge({ signer })], polyfill: false });
      const startedAt = performance.now();
      const answer = await payingFetch(`${marketplace.dev.base_url}/v1/execute`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body()),
      });
      expect(performance.now() - startedAt).toBeLessThan(5_000);
      expect(answer.status).toBe(200);
      expect(await answer.json()).toMatchObject({ status: 'completed', output: { task: 'paid' } });
    },
  );

  test.skipIf(IS_QUICK && CLIENT instanceof Error)('is paid by the program of the documents', async () => {
    const folder = await mppFolder();
    const blocks = blocksOf('docs/pay-per-call.md');
    const [program, install] = ['js', 'sh'].map(
      (name) => blocks.find(({ language }) => language === name)?.code,
    );
    for (const named of BESIDE_MPP) expect(install).toContain(named);
    const wallet = await newPayer();
    const [file, keypair] = [join(folder, 'pay.mjs'), join(folder, `${wallet.publicKey.toBase58()}.json`)];
    await writeFile(file, program ?? '');
    await writeFile(keypair, JSON.stringify([...wallet.secretKey]));
    const { stdout } = await run(process.execPath, [
      file,
      keypair,
      marketplace.dev.base_url,
      agentId,
      'from the documents',
    ]);
    expect(stdout).toMatch(/^200 .*"output":{"task":"from the documents"}/);
    await rm(keypair);
  });

  test('is streamed once it is paid', async () => {
    const wallet = await newPayer();
    const asked = await call(marketplace, 'POST', '/v1/execute/stream', { body: body() });
    const challenge = paymentChallenge(asked.headers);
    const streamed = await fetch(`${marketplace.dev.base_url}/v1/execute/stream`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        authorization: paymentCredential(challenge, signPayment(challenge, wallet)),
      },
      body: JSON.stringify(body()),
    });
    expect(streamed.headers.get('payment-receipt')).not.toBeNull();
    expect(await streamed.text()).toContain('"status":"completed"');
  });

  test('by a wallet with a rental costs the price and the fee alone, where it names itself', async () => {
    const wallet = await newPayer();
    await paidCall(wallet);
    const named = { 'payment-wallet': wallet.publicKey.toBase58() };
    const { challenge, answer } = await paidCall(wallet, named);
    expect(challenge.amount).toBe(BigInt(PRICE) + 5_000n);
    expect(answer.status).toBe(200);
    expect(await rentalOf(wallet)).toMatchObject({ balance_lamports: 0 });
    const unnamed = await ask();
    expect(unnamed.amount).toBeGreaterThan(challenge.amount);
  });

  test('is refused as before where the listing is not sold by the call', async () => {
    const oneTime = await publishIdleListing(creator, connection, {
      rental_model: 'one_time',
      price_lamports: 1_000_000,
    });
    for (const id of [oneTime, 'no-such-agent-aaaaaa', 7])
      expect((await execute({}, { agent_id: id })).status).toBe(401);
  });

  test('with an API key is refused as before, and asked to pay where it accepts that', async () => {
    const { token, wallet } = await newRenter(marketplace);
    const keyed = (headers: Record<string, string> = {}) =>
      execute({ authorization: `Bearer ${token}`, ...headers });
    expect(await keyed()).toMatchObject({ status: 403 });
    const asked = await keyed({ 'accept-payment': 'solana/charge' });
    expect(asked.status).toBe(402);
    const challenge = paymentChallenge(asked.headers);
    expect(await pay(paymentCredential(challenge, signPayment(challenge, wallet)))).toMatchObject({
      status: 200,
    });
  });

  test('of a renter whose balance pays for it is never asked to pay, also when it is repeated after the balance is spent', async () => {
    const renter = await newParticipant(marketplace);
    await rentAgent(renter, agentId, 1);
    const keyed = (key: string) =>
      execute({
        authorization: `Bearer ${renter.token}`,
        'accept-payment': 'solana/charge',
        'idempotency-key': key,
      });
    const [first, repeated, another] = [await keyed('one'), await keyed('one'), await keyed('two')];
    expect([first, repeated, another].map(({ status }) => status)).toEqual([200, 200, 402]);
    expect(repeated.body['run_id']).toBe(first.body['run_id']);
    expect(another.headers.get('content-type')).toBe('application/problem+json');
  });
});

describe('a payment', () => {
  test('that is sent 50 times at once is one run, one charge and 50 equal answers', async () => {
    const wallet = await newPayer();
    const before = await lamportsOf(wallet);
    const challenge = await ask();
    const credential = paymentCredential(challenge, signPayment(challenge, wallet));
    const answers = await Promise.all(Array.from({ length: 50 }, () => pay(credential)));
    const told = answers.map((answer) => {
      const { joined: _, ...run } = answer.body;
      return JSON.stringify([answer.status, run]);
    });
    expect(new Set(told)).toEqual(new Set([told[0]]));
    expect(answers[0]).toMatchObject({ status: 200, body: { status: 'completed' } });
    expect(await lamportsOf(wallet)).toBe(before - Number(challenge.amount) - 5_001);
    const token = await login(marketplace, wallet);
    const { body: page } = await call(marketplace, 'GET', '/v1/runs', { token });
    expect(page['runs']).toHaveLength(1);
  });

  test('fetches a lost answer again, and reads its run and receipt, and nothing else', async () => {
    const wallet = await newPayer();
    const { credential, answer } = await paidCall(wallet);
    expect((await pay(credential)).body['run_id']).toBe(answer.body['run_id']);
    const second = await paidCall(wallet);
    const get = (path: string, authorization = credential) =>
      call(marketplace, 'GET', path, { headers: { authorization } });
    const [own, other] = [String(answer.body['run_id']), String(second.answer.body['run_id'])];
    expect(await get(`/v1/runs/${own}`)).toMatchObject({ status: 200, body: { status: 'completed' } });
    expect(await get(`/v1/runs/${own}/receipt`)).toMatchObject({ status: 200 });
    expect(await get(`/v1/runs/${other}`)).toMatchObject({ status: 404 });
    const unpaid = paymentCredential(await ask(), signPayment(await ask(), wallet));
    expect(await get(`/v1/runs/${own}`, unpaid)).toMatchObject({ status: 401 });
    for (const path of ['/v1/runs', '/v1/credentials', '/v1/api-keys', '/v1/spending'])
      expect((await get(path)).status, path).toBe(401);
    expect((await pay(credential, { task: 'another' })).status).toBe(400);
  });

  test('that the payer sent itself is taken by its signature, once', async () => {
    const wallet = await newPayer();
    const challenge = await ask();
    const signature = await connection.sendTransaction(signPayment(challenge, wallet));
    await until(
      async () => (await connection.getSignatureStatus(signature)).value?.confirmationStatus !== undefined,
    );
    const credential = paymentCredential(challenge, { signature });
    const answer = await until(async () => {
      const tried = await pay(credential);
      return tried.status === 402 ? undefined : tried;
    });
    expect(answer).toMatchObject({ status: 200 });
    const other = await ask();
    expect(await pay(paymentCredential(other, { signature }))).toMatchObject({
      status: 402,
      body: { type: 'https://paymentauth.org/problems/verification-failed' },
    });
  });

  test('that landed goes back where the listing takes none any more', async () => {
    const wallet = await newPayer();
    const closing = await publishProgram(marketplace, creator, 'return {};');
    const before = await lamportsOf(wallet);
    const asked = await execute({}, { agent_id: closing });
    const challenge = paymentChallenge(asked.headers);
    const signature = await connection.sendTransaction(signPayment(challenge, wallet));
    await until(async () => (await lamportsOf(wallet)) < before);
    await pause(creator.client, creator.signer, closing);
    const credential = paymentCredential(challenge, { signature });
    const answer = await pay(credential, { agent_id: closing });
    expect(answer).toMatchObject({ status: 404, body: { error: { code: 'listing_not_found' } } });
    expect(errorOf(answer.body)['message']).toContain('went back');
    // Less the fees of both transactions.
    expect(await lamportsOf(wallet)).toBe(before - 5_001 - 5_000);
    expect(await pay(credential, { agent_id: closing })).toMatchObject({ status: 404 });
    expect(await lamportsOf(wallet)).toBe(before - 5_001 - 5_000);
  });

  test('whose run cannot begin says that it is a balance, and begins the run later', async () => {
    const wallet = await newPayer();
    const challenge = await ask();
    const credential = paymentCredential(challenge, signPayment(challenge, wallet));
    // No file of a wallet is the payment's.
    const refused = await pay(credential, { input_uri: 'file://00000000-0000-4000-8000-000000000000' });
    expect(refused.status).toBe(400);
    expect(errorOf(refused.body)['message']).toContain(`balance of ${wallet.publicKey.toBase58()}`);
    expect(refused.headers.get('payment-receipt')).not.toBeNull();
    expect(await rentalOf(wallet)).toMatchObject({ status: 'active', balance_lamports: PRICE });
    expect(await pay(credential)).toMatchObject({ status: 200 });
    expect(await rentalOf(wallet)).toMatchObject({ balance_lamports: 0 });
  });

  test('of a wallet whose rental was revoked is refused before it is sent', async () => {
    const wallet = await newPayer();
    await paidCall(wallet);
    await revoke(creator.client, creator.signer, agentId, wallet.publicKey.toBase58());
    const before = await lamportsOf(wallet);
    const { answer } = await paidCall(wallet);
    expect(answer).toMatchObject({ status: 403, body: { error: { code: 'credential_not_found' } } });
    expect(await lamportsOf(wallet)).toBe(before);
    // It is not asked to pay, once it names itself.
    expect(await execute({ 'payment-wallet': wallet.publicKey.toBase58() })).toMatchObject({ status: 401 });
  });

  test('for a request that no run takes is refused before it is sent', async () => {
    const wallet = await newPayer();
    const before = await lamportsOf(wallet);
    const challenge = await ask();
    const credential = paymentCredential(challenge, signPayment(challenge, wallet));
    const answer = await pay(credential, { input: 'x', input_uri: 'ipfs://y' });
    expect(answer.status).toBe(400);
    expect(await lamportsOf(wallet)).toBe(before);
  });
});

describe('a payment is refused, and nothing is taken,', () => {
  const others = Keypair.generate();
  const changes: [why: string, change: PaymentChange, problem: string][] = [
    ['that is too little', { amount: 1n }, 'payment-insufficient'],
    ['that is too much', { amount: 10_000_000n }, 'verification-failed'],
    ['to another recipient', { recipient: others.publicKey }, 'verification-failed'],
    ['with the memo of another challenge', { memo: 'agent:1:AAAAAAAAAAAAAAAAAAAAAA' }, 'verification-failed'],
    ['without a memo', { memo: null }, 'verification-failed'],
    ['over a stale blockhash', { blockhash: others.publicKey.toBase58() }, 'verification-failed'],
    [
      'with one more transfer',
      {
        more: (payer) => [
          SystemProgram.transfer({ fromPubkey: payer, toPubkey: others.publicKey, lamports: 1 }),
        ],
      },
      'verification-failed',
    ],
    [
      'with one more instruction',
      { more: () => [ComputeBudgetProgram.requestHeapFrame({ bytes: 64 * 1024 })] },
      'verification-failed',
    ],
    ['at a price of computing beyond the bound', { microLamports: 6_000_000 }, 'verification-failed'],
    ['whose fee another wallet pays', { feePayer: others }, 'verification-failed'],
  ];
  test.each(changes)('%s', async (_, change, problem) => {
    const wallet = await newPayer();
    const before = await lamportsOf(wallet);
    const challenge = await ask();
    const given = { ...change };
    if (given.amount === 10_000_000n) given.amount += challenge.amount;
    const answer = await pay(paymentCredential(challenge, signPayment(challenge, wallet, given)));
    expectRefusal(answer, problem);
    expect(await lamportsOf(wallet)).toBe(before);
  });

  test('whose fee the till would pay', async () => {
    const wallet = await newPayer();
    const challenge = await ask();
    const paid = signPayment(challenge, wallet, { feePayerKey: challenge.recipient });
    expectRefusal(await pay(paymentCredential(challenge, paid)), 'verification-failed');
  });

  test('by the challenge of another listing', async () => {
    const wallet = await newPayer();
    const other = await publishProgram(marketplace, creator, 'return {};');
    const challenge = await ask();
    const answer = await pay(paymentCredential(challenge, signPayment(challenge, wallet)), {
      agent_id: other,
    });
    expectRefusal(answer, 'invalid-challenge');
  });

  test('by a challenge that was changed', async () => {
    const wallet = await newPayer();
    const challenge = await ask();
    const request = JSON.parse(
      Buffer.from(challenge.params['request'] ?? '', 'base64url').toString(),
    ) as object;
    const cheaper = Buffer.from(JSON.stringify({ ...request, amount: '1' })).toString('base64url');
    const forged = { ...challenge, params: { ...challenge.params, request: cheaper }, amount: 1n };
    expectRefusal(await pay(paymentCredential(forged, signPayment(forged, wallet))), 'invalid-challenge');
  });

  test('by a signature that landed for nothing, or never', async () => {
    const challenge = await ask();
    const signature = await connection.requestAirdrop(Keypair.generate().publicKey, 1_000_000_000);
    await until(async () => (await connection.getSignatureStatus(signature)).value !== null);
    expectRefusal(await pay(paymentCredential(challenge, { signature })), 'verification-failed');
    const unknown = signPayment(challenge, Keypair.generate());
    const never = paymentCredential(challenge, { signature: bs58.encode(unknown.signatures[0] ?? []) });
    expectRefusal(await pay(never), 'verification-failed');
  });

  test('by a wallet without the lamports', async () => {
    const challenge = await ask();
    const answer = await pay(paymentCredential(challenge, signPayment(challenge, Keypair.generate())));
    expectRefusal(answer, 'verification-failed');
  });

  test.each(['Payment', 'Payment ', 'Payment e30', 'Payment ' + 'A'.repeat(9_000), 'payment !'])(
    'that cannot be read: %.20s',
    async (authorization) => {
      expectRefusal(await pay(authorization), 'malformed-credential');
    },
  );
});
