import { createClient, isApiError } from '@agent-rental/sdk';
import { createApiKey, keypairSigner, rent, type ApiKeyOptions } from '@agent-rental/sdk/solana';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { Keypair } from '@solana/web3.js';
import bs58 from 'bs58';
import nacl from 'tweetnacl';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { call } from '../support/http.js';
import { attach, type Marketplace } from '../support/marketplace.js';
import { balanceOnChain, newRenter, rentOverHttp, type Renter } from '../support/renter.js';

let marketplace: Marketplace;
let owner: Renter;
let price: number;

beforeAll(async () => {
  marketplace = await attach(inject('stateDir'));
  owner = await newRenter(marketplace);
  await rentOverHttp(marketplace, owner, 'per_query');
  const { id } = marketplace.listing('per_query');
  const { body } = await call(marketplace, 'GET', `/v1/listings/${id}`, { token: owner.token });
  price = Number(body['price_lamports']);
});

const clientOf = (wallet: Keypair) =>
  createClient({ baseUrl: marketplace.dev.base_url, signer: keypairSigner(wallet) });

/** A key of the owner's wallet, and a client that holds nothing else. */
async function keyWith(policy?: ApiKeyOptions['policy']) {
  const created = await createApiKey(clientOf(owner.wallet), keypairSigner(owner.wallet), 'test', { policy });
  return { ...created, client: createClient({ baseUrl: marketplace.dev.base_url, apiKey: created.key }) };
}

/** The API's refusal of an attempt. */
async function refusalOf(attempt: Promise<unknown>): Promise<unknown> {
  try {
    return { accepted: await attempt };
  } catch (error) {
    if (!isApiError(error)) throw error;
    return { status: error.status, code: error.code, rule: error.policyRule };
  }
}

const errorOf = (body: Record<string, unknown>) => body['error'] as Record<string, unknown>;

describe('an API key', () => {
  test('is made by a login and a signature, listed without its secret, and ends when it is revoked [ID-20, ID-24]', async () => {
    const { id, key, client, policy } = await keyWith();
    expect(key).toMatch(/^ark_dev_[\w-]{43}$/);
    expect(policy).toBeNull();
    expect(await client.listCredentials()).toMatchObject({ total: 1 });

    const login = clientOf(owner.wallet);
    const { api_keys: listed } = await login.listApiKeys();
    expect(listed.map((one) => one.id)).toContain(id);
    expect(JSON.stringify(listed)).not.toContain(key);

    expect(await login.revokeApiKey(id)).toMatchObject({ id, revoked_at: expect.any(String) as string });
    expect(await refusalOf(client.listCredentials())).toMatchObject({ status: 401, code: 'invalid_api_key' });
    expect((await login.listApiKeys()).api_keys.map((one) => one.id)).not.toContain(id);
  });

  test('manages no keys, its own included [ID-20]', async () => {
    const { id, client, key } = await keyWith({ can_rent: false });
    expect(await refusalOf(client.listApiKeys())).toMatchObject({ status: 401, code: 'unauthorized' });
    expect(await refusalOf(client.revokeApiKey(id))).toMatchObject({ status: 401, code: 'unauthorized' });
    const made = createApiKey(client, keypairSigner(owner.wallet), 'better');
    expect(await refusalOf(made)).toMatchObject({ status: 401, code: 'unauthorized' });
    expect((await call(marketplace, 'GET', '/v1/credentials', { token: key })).status).toBe(200);
  });

  test('is not made with a policy other than the signed one [ID-20, ID-32]', async () => {
    const login = clientOf(owner.wallet);
    const signer = keypairSigner(owner.wallet);
    const loosened = {
      ...login,
      createApiKey: (body: Parameters<typeof login.createApiKey>[0]) =>
        login.createApiKey({ ...body, policy: { max_run_lamports: 2 } }),
    };
    const made = createApiKey(loosened, signer, 'test', { policy: { max_run_lamports: 1 } });
    expect(await refusalOf(made)).toMatchObject({ status: 401, code: 'invalid_signature' });
  });
});

describe('a spending policy', () => {
  test('refuses a run above its price, and nothing is charged [ID-32]', async () => {
    const before = await balanceOnChain(marketplace, owner.wallet.publicKey);
    const body = await marketplace.request('per_query');
    const { key } = await keyWith({ max_run_lamports: price - 1 });
    for (const path of ['/v1/execute', '/v1/execute/stream']) {
      const answer = await call(marketplace, 'POST', path, { token: key, body });
      expect(answer.status).toBe(403);
      expect(errorOf(answer.body)).toMatchObject({
        code: 'insufficient_balance',
        policy_rule: 'max_run_lamports',
        message: expect.stringContaining(`${price - 1}`) as string,
      });
    }
    expect(await balanceOnChain(marketplace, owner.wallet.publicKey)).toBe(before);
  });

  test('lets exactly as many runs through in a day as it pays for [ID-32]', async () => {
    const before = await balanceOnChain(marketplace, owner.wallet.publicKey);
    const body = await marketplace.request('per_query');
    const { key } = await keyWith({ max_run_lamports: price, max_day_lamports: 2 * price });
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => call(marketplace, 'POST', '/v1/execute', { token: key, body })),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(2);
    for (const refused of answers.filter(({ status }) => status !== 200)) {
      expect(refused.status).toBe(403);
      expect(errorOf(refused.body)).toMatchObject({ policy_rule: 'max_day_lamports' });
    }
    expect(await balanceOnChain(marketplace, owner.wallet.publicKey)).toBe(before - BigInt(2 * price));
  });

  test('refuses listings that it does not name, to run and to rent [ID-32]', async () => {
    const { client, key } = await keyWith({ listing_ids: [marketplace.listing('one_time').id] });
    const body = await marketplace.request('per_query');
    const answer = await call(marketplace, 'POST', '/v1/execute', { token: key, body });
    expect(errorOf(answer.body)).toMatchObject({ status: 403, policy_rule: 'listing_ids' });
    const listing_id = marketplace.listing('subscription').id;
    expect(
      await refusalOf(client.createTransaction({ action: 'rent', listing_id, duration_seconds: 2_592_000 })),
    ).toMatchObject({ status: 403, rule: 'listing_ids' });
  });

  test('refuses to propose a rental, and to send one that the wallet has signed [ID-32]', async () => {
    const { client } = await keyWith({ can_rent: false });
    const listing_id = marketplace.listing('one_time').id;
    const topup = {
      action: 'topup',
      listing_id: marketplace.listing('per_query').id,
      amount_lamports: 1,
    } as const;
    for (const request of [{ action: 'rent', listing_id } as const, topup]) {
      expect(await refusalOf(client.createTransaction(request))).toMatchObject({
        status: 403,
        rule: 'can_rent',
      });
    }
    const { transaction } = await clientOf(owner.wallet).createTransaction({ action: 'rent', listing_id });
    const signed = await keypairSigner(owner.wallet).signTransaction(Buffer.from(transaction, 'base64'));
    const sent = client.submitTransaction(Buffer.from(signed).toString('base64'));
    expect(await refusalOf(sent)).toMatchObject({ status: 403, rule: 'can_rent' });
    expect(await clientOf(owner.wallet).verifyCredential(listing_id)).toMatchObject({ status: 'not_found' });
  });

  test('counts the lamports that its rentals take out of the wallet', async () => {
    const { id } = marketplace.listing('per_query');
    const { client } = await keyWith({ max_day_lamports: 3000 });
    const signer = keypairSigner(owner.wallet);
    const topUpBy = async (amount: number) => {
      const request = { action: 'topup', listing_id: id, amount_lamports: amount } as const;
      const { transaction } = await client.createTransaction(request);
      const signed = await signer.signTransaction(Buffer.from(transaction, 'base64'));
      return client.submitTransaction(Buffer.from(signed).toString('base64'));
    };
    expect(await refusalOf(topUpBy(3001))).toMatchObject({ status: 403, rule: 'max_day_lamports' });
    const before = await balanceOnChain(marketplace, owner.wallet.publicKey);
    await topUpBy(2000);
    expect(await refusalOf(topUpBy(1001))).toMatchObject({ status: 403, rule: 'max_day_lamports' });
    await topUpBy(1000);
    expect(await balanceOnChain(marketplace, owner.wallet.publicKey)).toBe(before + 3000n);
  });

  test('does not bind a login with the wallet', async () => {
    await keyWith({ can_rent: false, listing_ids: [] });
    const client = clientOf(owner.wallet);
    const listing = marketplace.listing('subscription').id;
    await rent(client, keypairSigner(owner.wallet), listing, {
      duration_seconds: 2_592_000,
      max_price_lamports: 1_000_000_000,
    });
    expect(await client.verifyCredential(listing)).toMatchObject({ status: 'active' });
  });
});

describe('the view of an API key', () => {
  /** A run and a file of one key, and another key: of another listing, or of any. */
  async function twoKeys(policy: ApiKeyOptions['policy']) {
    const body = await marketplace.request('per_query');
    const { key: first } = await keyWith({ listing_ids: [marketplace.listing('per_query').id] });
    const { key: second } = await keyWith(policy);
    const headers = { 'idempotency-key': crypto.randomUUID() };
    const ran = await call(marketplace, 'POST', '/v1/execute', { token: first, body, headers });
    expect(ran.status).toBe(200);
    const file = await call(marketplace, 'POST', '/v1/files', {
      token: first,
      raw: 'SECRET',
      headers: { 'content-type': 'text/plain' },
    });
    expect(file.status).toBe(201);
    const ask = async (token: string, method: string, path: string, sent?: Record<string, unknown>) =>
      call(marketplace, method, path, { token, ...(sent === undefined ? {} : { body: sent }) });
    return { first, second, body, headers, ran: ran.body, file: file.body, ask };
  }
  const policies = [
    ['another listing alone', () => ({ listing_ids: [marketplace.listing('one_time').id] })],
    ['every listing', () => undefined],
  ] as const;

  test.each(policies)(
    'for %s has no run, result, receipt or file of another key [ID-76]',
    async (_, policyOf) => {
      const { first, second, ran, file, ask, headers, body } = await twoKeys(policyOf());
      const run = `/v1/runs/${String(ran['run_id'])}`;
      const stored = `/v1/files/${String(file['file_id'])}`;
      const attempts = [
        ['GET', run],
        ['GET', `${run}/receipt`],
        ['POST', `${run}/cancel`],
        ['GET', stored],
        ['DELETE', stored],
      ] as const;
      for (const [method, path] of attempts) {
        expect((await ask(second, method, path)).status, `${method} ${path}`).toBe(404);
      }
      const mine = [first, owner.token];
      for (const token of mine) {
        for (const path of [run, `${run}/receipt`, stored])
          expect((await ask(token, 'GET', path)).status).toBe(200);
      }
      const listed = async (token: string) =>
        JSON.stringify((await ask(token, 'GET', '/v1/runs?limit=100')).body);
      expect(await listed(second)).not.toContain(ran['run_id']);
      for (const token of mine) expect(await listed(token)).toContain(ran['run_id']);

      const key = headers['idempotency-key'];
      expect((await ask(second, 'POST', '/v1/runs/cancel', { idempotency_key: key })).body).toEqual({
        cancelled: true,
      });
      const repeat = (token: string) => call(marketplace, 'POST', '/v1/execute', { token, body, headers });
      // The second key has cancelled its calls under that name, or its policy refuses the listing.
      expect(JSON.stringify((await repeat(second)).body)).not.toContain(ran['run_id']);
      expect((await repeat(first)).body).toMatchObject({ run_id: ran['run_id'], output: ran['output'] });

      const { task, agent_id } = body as { task: string; agent_id: string };
      const asInput = { agent_id, task, input_uri: file['input_uri'] };
      const read = await ask(second, 'POST', '/v1/execute', asInput);
      expect([400, 403]).toContain(read.status);
      expect(JSON.stringify(read.body)).not.toContain('SECRET');
    },
  );

  test('over MCP is no run of another key, and no rental that its policy does not name [ID-76]', async () => {
    const { first, second, ran } = await twoKeys({ listing_ids: [marketplace.listing('one_time').id] });
    const seen = async (key: string) => {
      const mcp = new Client({ name: 'two-keys', version: '1.0.0' });
      const transport: Transport = new StreamableHTTPClientTransport(new URL(marketplace.dev.mcp_url), {
        requestInit: { headers: { authorization: `Bearer ${key}` } },
      });
      await mcp.connect(transport);
      try {
        const { resources } = await mcp.listResources();
        const { tools } = await mcp.listTools();
        const got = await mcp.callTool({ name: 'get_run', arguments: { run_id: ran['run_id'] } });
        return { listed: JSON.stringify([resources, tools]), got };
      } finally {
        await mcp.close();
      }
    };
    const rented = marketplace.listing('per_query').id;
    const [mine, others] = [await seen(first), await seen(second)];
    expect(mine.got.isError ?? false).toBe(false);
    expect(mine.listed).toContain(rented);
    expect(others.got.isError).toBe(true);
    expect(others.listed).not.toContain(rented);
  });

  test('has the rentals that its policy names [ID-76]', async () => {
    const { second, ask } = await twoKeys({ listing_ids: [marketplace.listing('one_time').id] });
    expect((await ask(second, 'GET', '/v1/credentials')).body).toMatchObject({ credentials: [], total: 0 });
    const tools = await ask(second, 'GET', '/v1/tools?format=openai');
    expect(JSON.stringify(tools.body)).not.toContain(marketplace.listing('per_query').id);
  });
});

describe('Sign In With Solana', () => {
  /** Logs in with the message that the challenge's offer asks for, changed on the way. */
  async function signIn(change: (message: string) => string = (message) => message) {
    const wallet = Keypair.generate();
    const address = wallet.publicKey.toBase58();
    const issued = await call(marketplace, 'GET', `/v1/auth/challenge?wallet=${address}&sign_in=true`);
    const offer = issued.body['sign_in'] as Record<string, string>;
    const message = change(
      `${offer['domain']} wants you to sign in with your Solana account:\n${offer['address']}\n\n` +
        `${offer['statement']}\n\nURI: ${offer['uri']}\nVersion: ${offer['version']}\n` +
        `Chain ID: ${offer['chainId']}\nNonce: ${offer['nonce']}\nIssued At: ${offer['issuedAt']}\n` +
        `Expiration Time: ${offer['expirationTime']}`,
    );
    const body = {
      wallet: address,
      challenge: issued.body['challenge'],
      signature: bs58.encode(nacl.sign.detached(Buffer.from(message), wallet.secretKey)),
      sign_in_message: message,
    };
    return { body, answer: await call(marketplace, 'POST', '/v1/auth/token', { body }) };
  }

  test('logs in, once [ID-54]', async () => {
    const { body, answer } = await signIn();
    expect(answer.status).toBe(200);
    const used = await call(marketplace, 'GET', '/v1/credentials', { token: String(answer.body['token']) });
    expect(used.status).toBe(200);
    const again = await call(marketplace, 'POST', '/v1/auth/token', { body });
    expect(errorOf(again.body)).toMatchObject({ status: 401, code: 'invalid_signature' });
  });

  test.each([
    ['another site', (message: string) => message.replace(/^\S+/, 'evil.example')],
    ['another nonce', (message: string) => message.replace(/Nonce: .{8}/, 'Nonce: 00000000')],
    ['a time that has passed', (message: string) => message.replace(/Time: \d{4}/, 'Time: 2000')],
  ])('for %s is refused [ID-54]', async (_, change) => {
    const { answer } = await signIn(change);
    expect(answer.status).toBe(401);
    expect(errorOf(answer.body)).toMatchObject({ code: 'invalid_signature' });
  });
});
