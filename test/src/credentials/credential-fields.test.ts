import { Keypair, PublicKey } from '@solana/web3.js';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { call, errorOf, login } from '../support/http.js';
import { attach, type Marketplace } from '../support/marketplace.js';
import { newRenter, rentOverHttp, type Renter } from '../support/renter.js';

const MODELS = ['one_time', 'subscription', 'per_query'] as const;
const DAYS_30_MS = 2_592_000_000;

type Fields = Record<string, unknown>;

let marketplace: Marketplace;
let renter: Renter;
/** The answer to the submission of each rental. */
const rented = new Map<string, Fields>();

beforeAll(async () => {
  marketplace = await attach(inject('stateDir'));
  renter = await newRenter(marketplace);
  for (const model of MODELS) rented.set(model, await rentOverHttp(marketplace, renter, model));
});

const get = (path: string, token = renter.token) => call(marketplace, 'GET', path, { token });
const list = async (query = '') => {
  const { body } = await get(`/v1/credentials${query}`);
  return body['credentials'] as Fields[];
};
const keysOf = (value: Fields | undefined) => Object.keys(value ?? {}).toSorted();
const BALANCE = { one_time: [], subscription: [], per_query: ['balance_lamports'] };

/** Derived from the specification's seeds, without code of this project. */
function credentialAddress(model: (typeof MODELS)[number]): string {
  const program = new PublicKey(marketplace.dev.program_id);
  const id = Buffer.from(marketplace.listing(model).id);
  const [listing] = PublicKey.findProgramAddressSync([Buffer.from('listing'), id], program);
  const seeds = [Buffer.from('access_credential'), renter.wallet.publicKey.toBuffer(), listing.toBuffer()];
  return PublicKey.findProgramAddressSync(seeds, program)[0].toBase58();
}

describe('a credential', () => {
  test.each(MODELS)('in the list has its fields and no others: %s [CRD-1, CRD-11]', async (model) => {
    const { id, title } = marketplace.listing(model);
    const credential = (await list()).find(({ listing_id }) => listing_id === id);
    expect(keysOf(credential)).toEqual(
      [
        'expires_at',
        'listing_id',
        'listing_title',
        'pda_address',
        'purchased_at',
        'rental_model',
        'status',
        ...BALANCE[model],
      ].toSorted(),
    );
    expect(credential).toMatchObject({
      listing_title: title,
      rental_model: model,
      status: 'active',
      pda_address: credentialAddress(model),
    });
  });

  test('of a subscription ends 30 days after its purchase, of the others never [CRD-2, CRD-14]', async () => {
    const byModel = new Map((await list()).map((credential) => [credential['rental_model'], credential]));
    for (const model of MODELS) {
      const { purchased_at: start, expires_at: end, status } = byModel.get(model) ?? {};
      expect(status).toBe('active');
      expect(new Date(String(start)).toISOString()).toBe(start);
      const lasts = typeof end === 'string' ? Date.parse(end) - Date.parse(String(start)) : end;
      expect(lasts).toBe(model === 'subscription' ? DAYS_30_MS : null);
    }
    expect(byModel.get('per_query')?.['balance_lamports']).toBe(10_000_000);
  });

  test.each(MODELS)('that is verified has its fields and no others: %s [CRD-7, CRD-11]', async (model) => {
    const { id } = marketplace.listing(model);
    const { status, body } = await get(`/v1/credentials/${id}`);
    expect(status).toBe(200);
    expect(keysOf(body)).toEqual(
      [
        'listing_id',
        'on_chain_verified',
        'pda_address',
        'rental_model',
        'status',
        'valid',
        ...BALANCE[model],
      ].toSorted(),
    );
    expect(body).toMatchObject({
      listing_id: id,
      rental_model: model,
      status: 'active',
      valid: true,
      pda_address: credentialAddress(model),
      on_chain_verified: true,
    });
    expect(rented.get(model)).toEqual(body);
  });

  test('that does not exist is answered in four fields [CRD-9]', async () => {
    const stranger = await login(marketplace, Keypair.generate());
    const { id } = marketplace.listing('subscription');
    const { status, body } = await get(`/v1/credentials/${id}`, stranger);
    expect(status).toBe(200);
    expect(body).toEqual({ listing_id: id, valid: false, status: 'not_found', on_chain_verified: false });
  });

  test.each([
    ['Not%20An%20Id', 400, 'invalid_listing_id'],
    ['absent-aaaaaa', 404, 'listing_not_found'],
  ])('of the listing %s is %i %s [CRD-29]', async (id, status, code) => {
    const answer = await get(`/v1/credentials/${id}`);
    expect(answer.status).toBe(status);
    expect(errorOf(answer.body)).toMatchObject({ code, status });
  });
});

describe('the list of credentials', () => {
  test('is the wallet’s own [CRD-3, ID-38]', async () => {
    const { body } = await get('/v1/credentials');
    expect(keysOf(body)).toEqual(['credentials', 'total']);
    expect(body['total']).toBe(MODELS.length);
    const other = await newRenter(marketplace);
    const { body: empty } = await get('/v1/credentials', other.token);
    expect(empty).toEqual({ credentials: [], total: 0 });
  });

  test('filters by status [CRD-4]', async () => {
    expect(await list('?status=active')).toHaveLength(MODELS.length);
    for (const status of ['expired', 'low_balance']) {
      const { body } = await get(`/v1/credentials?status=${status}`);
      expect(body).toEqual({ credentials: [], total: 0 });
    }
  });

  test('has pages [CRD-4]', async () => {
    const pages = [];
    for (const offset of [0, 1, 2, 3]) {
      const { body } = await get(`/v1/credentials?limit=1&offset=${offset}`);
      expect(body['total']).toBe(MODELS.length);
      pages.push((body['credentials'] as Fields[]).map(({ listing_id }) => listing_id));
    }
    expect(pages.map((page) => page.length)).toEqual([1, 1, 1, 0]);
    expect(new Set(pages.flat()).size).toBe(MODELS.length);
  });

  test.each([
    'status=not_found',
    'status=revoked',
    'limit=101',
    'limit=0',
    'limit=',
    'limit=1.5',
    'limit=1&limit=2',
    'offset=-1',
    'offset=x',
    'wallet=x',
  ])('is 400 for %s [CRD-4]', async (query) => {
    const { status, body } = await get(`/v1/credentials?${query}`);
    expect(status).toBe(400);
    expect(errorOf(body)).toMatchObject({ code: 'invalid_request' });
    expect(String(errorOf(body)['message'])).toContain(query.split('=')[0]);
  });
});
