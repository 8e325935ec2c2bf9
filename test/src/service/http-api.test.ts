import { Keypair } from '@solana/web3.js';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { call, errorOf, login } from '../support/http.js';
import { attach, type Marketplace } from '../support/marketplace.js';
import { balanceOnChain, newRenter, rentOverHttp, type Renter } from '../support/renter.js';

let marketplace: Marketplace;
let renter: string;
let own: Renter;

beforeAll(async () => {
  marketplace = await attach(inject('stateDir'));
  // A new wallet: the other tests pay from the demo renter's balance.
  own = await newRenter(marketplace);
  renter = own.token;
  for (const model of ['one_time', 'subscription', 'per_query'] as const) {
    const credential = await rentOverHttp(marketplace, own, model);
    expect(credential).toMatchObject({
      rental_model: model,
      status: 'active',
      valid: true,
      on_chain_verified: true,
    });
  }
});

describe('a renter with nothing but HTTP', () => {
  test('logs in by signing a challenge, which works once [ID-5, CRD-3]', async () => {
    const wallet = Keypair.generate();
    const token = await login(marketplace, wallet);
    const { status, body } = await call(marketplace, 'GET', '/v1/credentials', { token });
    expect(status).toBe(200);
    expect(body).toEqual({ credentials: [], total: 0 });
  });

  test('finds the published agents by words [LST-18, LST-19]', async () => {
    const { body } = await call(marketplace, 'GET', '/v1/listings?q=expenses', { token: marketplace.apiKey });
    const listings = body['listings'] as Record<string, unknown>[];
    expect(listings.map((listing) => listing['id'])).toContain(marketplace.listing('per_query').id);
    expect(body).toMatchObject({ total: listings.length, limit: 20, offset: 0 });
  });

  test('reads a listing whose secrets stay secret [LST-35]', async () => {
    const { id } = marketplace.listing('per_query');
    const { status, body } = await call(marketplace, 'GET', `/v1/listings/${id}`, { token: renter });
    expect(status).toBe(200);
    expect(body).toMatchObject({ id, status: 'active', rental_model: 'per_query' });
    expect(JSON.stringify(body)).not.toMatch(/system_prompt|run_javascript|127\.0\.0\.1/);
  });

  test.each(['one_time', 'subscription', 'per_query'] as const)(
    'runs a rented %s agent [EXE-16, EXE-29, RUN-1]',
    async (model) => {
      const request = await marketplace.request(model);
      const { status, body, headers } = await call(marketplace, 'POST', '/v1/execute', {
        token: renter,
        body: request,
      });
      expect(body).toMatchObject({ agent_id: marketplace.listing(model).id, status: 'completed' });
      expect(status).toBe(200);
      expect(body['output']).toBeTruthy();
      expect(headers.get('x-run-id')).toBe(body['run_id']);
      expect(body['cost_lamports']).toBe(model === 'per_query' ? await priceOf(model) : 0);
    },
  );

  test('pays exactly the price per run, as the chain shows it [EXE-16, CRD-19]', async () => {
    const before = await balanceOnChain(marketplace, own.wallet.publicKey);
    const request = await marketplace.request('per_query');
    const price = BigInt(await priceOf('per_query'));
    for (let runs = 1n; runs <= 3n; runs += 1n) {
      await call(marketplace, 'POST', '/v1/execute', { token: renter, body: request });
      expect(await balanceOnChain(marketplace, own.wallet.publicKey)).toBe(before - runs * price);
    }
  });

  test('pays once for a request that is repeated under one key [RUN-3, MON-1]', async () => {
    const before = await balanceOnChain(marketplace, own.wallet.publicKey);
    const request = await marketplace.request('per_query');
    const options = { token: renter, body: request, headers: { 'idempotency-key': `key-${Date.now()}` } };
    const [first, second] = await Promise.all([
      call(marketplace, 'POST', '/v1/execute', options),
      call(marketplace, 'POST', '/v1/execute', options),
    ]);
    expect(second.body).toEqual(first.body);
    expect(await balanceOnChain(marketplace, own.wallet.publicKey)).toBe(
      before - BigInt(await priceOf('per_query')),
    );
    const other = await call(marketplace, 'POST', '/v1/execute', {
      ...options,
      body: { ...request, task: 'another' },
    });
    expect(other.status).toBe(400);
  });

  test('gets the same output as a stream [STR-1, STR-2, STR-3, STR-4]', async () => {
    const request = await marketplace.request('per_query');
    const response = await fetch(`${marketplace.dev.base_url}/v1/execute/stream`, {
      method: 'POST',
      headers: { authorization: `Bearer ${renter}`, 'content-type': 'application/json' },
      body: JSON.stringify(request),
    });
    expect(response.headers.get('content-type')).toContain('text/event-stream');
    const events = (await response.text())
      .split('\n\n')
      .filter((block) => block.startsWith('event:'))
      .map((block) => {
        const [event = '', data = ''] = block.split('\n');
        return { event: event.slice(7), data: JSON.parse(data.slice(6)) as Record<string, unknown> };
      });
    const done = events.at(-1);
    expect(done?.event).toBe('done');
    expect(done?.data).toMatchObject({ status: 'completed', cost_lamports: await priceOf('per_query') });
    const streamed = events
      .slice(0, -1)
      .map(({ data }) => data['delta'])
      .join('');
    expect(JSON.parse(streamed)).toEqual(done?.data['output']);
    const plain = await call(marketplace, 'POST', '/v1/execute', { token: renter, body: request });
    expect(plain.body['output']).toEqual(done?.data['output']);
  });

  test('sees its credentials, and that index and chain agree on them [CRD-12, CRD-35]', async () => {
    const { body } = await call(marketplace, 'GET', '/v1/credentials', { token: renter });
    const credentials = body['credentials'] as Record<string, unknown>[];
    expect(credentials).toHaveLength(3);
    for (const credential of credentials) {
      const path = `/v1/credentials/${String(credential['listing_id'])}`;
      const verified = await call(marketplace, 'GET', path, { token: renter });
      expect(verified.body).toMatchObject({ valid: true, status: 'active', on_chain_verified: true });
      expect(verified.body['pda_address']).toBe(credential['pda_address']);
      expect(verified.body['balance_lamports']).toBe(credential['balance_lamports']);
    }
  });
});

describe('refusals', () => {
  test('a wallet without a credential: 403 credential_not_found [CRD-9, ERR-6, EXE-15, ID-34]', async () => {
    const token = await login(marketplace, Keypair.generate());
    for (const model of ['one_time', 'subscription', 'per_query'] as const) {
      const body = await marketplace.request(model);
      const answer = await call(marketplace, 'POST', '/v1/execute', { token, body });
      expect(answer.status).toBe(403);
      expect(errorOf(answer.body)).toMatchObject({ code: 'credential_not_found', status: 403 });
    }
    const verified = await call(marketplace, 'GET', `/v1/credentials/${marketplace.listing('one_time').id}`, {
      token,
    });
    expect(verified.body).toMatchObject({ status: 'not_found', valid: false, on_chain_verified: false });
  });

  test.each([
    ['malformed JSON [ERR-10]', 'POST', '/v1/execute', { raw: '{"agent_id":' }, 400, 'invalid_request'],
    [
      'a missing field [ERR-11]',
      'POST',
      '/v1/execute',
      { body: { agent_id: 'a-bbbbbb' } },
      400,
      'invalid_request',
    ],
    [
      'an unknown field [EXE-4]',
      'POST',
      '/v1/execute',
      { body: { agent_id: 'a-bbbbbb', task: 'x', extra: 1 } },
      400,
      'invalid_request',
    ],
    [
      'an unknown listing [EXE-26, ERR-13]',
      'POST',
      '/v1/execute',
      { body: { agent_id: 'absent-aaaaaa', task: 'x' } },
      404,
      'listing_not_found',
    ],
    [
      'a malformed listing id [ERR-12, LST-32]',
      'GET',
      '/v1/listings/Not%20An%20Id',
      {},
      400,
      'invalid_listing_id',
    ],
    ['an unknown job [REG-11]', 'GET', '/v1/jobs/nothing', {}, 404, 'not_found'],
    ['an unknown route [ERR-5]', 'GET', '/v1/nothing', {}, 404, 'not_found'],
    ['a limit above 100 [LST-29]', 'GET', '/v1/listings?limit=101', {}, 400, 'invalid_request'],
  ] as const)('%s: %s %s [ERR-1, ERR-3, LIM-5]', async (_, method, path, options, status, code) => {
    const answer = await call(marketplace, method, path, { token: renter, ...options });
    expect(answer.status).toBe(status);
    const error = errorOf(answer.body);
    expect(error).toMatchObject({ code, status, request_id: answer.headers.get('x-request-id') });
    for (const header of ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset']) {
      expect(Number(answer.headers.get(header))).not.toBeNaN();
      expect(answer.headers.has(header)).toBe(true);
    }
  });

  test.each([
    ['no token [ID-19]', undefined, 'unauthorized'],
    ['a garbage token [ID-19]', 'garbage', 'unauthorized'],
    ['a key of another network [ID-19]', `ark_live_${'x'.repeat(43)}`, 'invalid_api_key'],
    ['an unknown key [ID-19]', `ark_dev_${'x'.repeat(43)}`, 'invalid_api_key'],
  ])('%s: 401', async (_, token, code) => {
    const answer = await call(marketplace, 'GET', '/v1/credentials', { token });
    expect(answer.status).toBe(401);
    expect(errorOf(answer.body)).toMatchObject({ code });
    expect(answer.headers.has('x-ratelimit-limit')).toBe(true);
  });

  test('an input that breaks the schema is refused before anything is charged [EXE-21]', async () => {
    const before = await balanceOnChain(marketplace, own.wallet.publicKey);
    const { id } = marketplace.listing('per_query');
    const body = { agent_id: id, task: 'reconcile', input: { csv: 42 } };
    const answer = await call(marketplace, 'POST', '/v1/execute', { token: renter, body });
    expect(answer.status).toBe(400);
    expect(String(errorOf(answer.body)['message'])).toContain('input');
    expect(await balanceOnChain(marketplace, own.wallet.publicKey)).toBe(before);
  });
});

async function priceOf(model: 'per_query'): Promise<number> {
  const { body } = await call(marketplace, 'GET', `/v1/listings/${marketplace.listing(model).id}`, {
    token: renter,
  });
  return body['price_lamports'] as number;
}
