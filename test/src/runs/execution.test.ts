import { decodeInstruction } from '@agent-rental/program-client';
import { Connection, Keypair, PublicKey } from '@solana/web3.js';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { call, errorOf, login, type Answer } from '../support/http.js';
import { attach, type Marketplace } from '../support/marketplace.js';
import { balanceOnChain, newRenter, rentOverHttp, type Renter } from '../support/renter.js';

const MODELS = ['one_time', 'subscription', 'per_query'] as const;
const ENDPOINTS = ['/v1/execute', '/v1/execute/stream'] as const;

type Fields = Record<string, unknown>;

let marketplace: Marketplace;
let renter: Renter;

beforeAll(async () => {
  marketplace = await attach(inject('stateDir'));
  renter = await newRenter(marketplace);
  for (const model of MODELS) await rentOverHttp(marketplace, renter, model);
});

const execute = (body: Fields, path: string = ENDPOINTS[0], token = renter.token): Promise<Answer> =>
  call(marketplace, 'POST', path, { token, body });
const idOf = (model: (typeof MODELS)[number]) => marketplace.listing(model).id;

/** Addresses of the renter's accounts for a listing, by the specification's seeds. */
function accountOf(
  kind: 'access_credential' | 'per_query_balance',
  model: (typeof MODELS)[number],
): PublicKey {
  const program = new PublicKey(marketplace.dev.program_id);
  const [listing] = PublicKey.findProgramAddressSync(
    [Buffer.from('listing'), Buffer.from(idOf(model))],
    program,
  );
  const seeds = [Buffer.from(kind), renter.wallet.publicKey.toBuffer(), listing.toBuffer()];
  return PublicKey.findProgramAddressSync(seeds, program)[0];
}

describe('a run', () => {
  test.each(MODELS)(
    'answers with six fields, in the agent’s own form: %s [EXE-9, EXE-35, LST-6]',
    async (model) => {
      const { status, body } = await execute(await marketplace.request(model));
      expect(status).toBe(200);
      expect(Object.keys(body).toSorted()).toEqual([
        'agent_id',
        'cost_lamports',
        'duration_ms',
        'output',
        'run_id',
        'status',
      ]);
      expect(body).toMatchObject({ agent_id: idOf(model), status: 'completed' });
      for (const field of ['cost_lamports', 'duration_ms']) expect(body[field]).toSatisfy(Number.isInteger);
      const { body: listing } = await call(marketplace, 'GET', `/v1/listings/${idOf(model)}`, renter);
      const { required, properties } = listing['output_schema'] as { required: string[]; properties: Fields };
      const fields = Object.keys(body['output'] as Fields);
      expect(fields).toEqual(expect.arrayContaining(required));
      expect(Object.keys(properties)).toEqual(expect.arrayContaining(fields));
    },
  );

  test('has a new id, under which its wallet alone finds it [EXE-9, RUN-1]', async () => {
    const request = await marketplace.request('one_time');
    const [first, second] = [await execute(request), await execute(request)];
    expect(first.body['run_id']).not.toBe(second.body['run_id']);
    const path = `/v1/runs/${String(first.body['run_id'])}`;
    const found = await call(marketplace, 'GET', path, renter);
    expect(found.status).toBe(200);
    expect(found.body).toMatchObject(first.body);
    const token = await login(marketplace, Keypair.generate());
    for (const [lost, by] of [
      [path, token],
      ['/v1/runs/00000000-0000-4000-8000-000000000000', renter.token],
      ['/v1/runs/nothing', renter.token],
    ] as const) {
      const { status, body } = await call(marketplace, 'GET', lost, { token: by });
      expect(status).toBe(404);
      expect(errorOf(body)).toMatchObject({ code: 'not_found', status: 404 });
    }
  });

  test('does not tell how its agent is made: fields and headers are the same [EXE-34]', async () => {
    const shapes = [];
    // The first agent is its creator's endpoint, the second runs in the service's sandbox.
    for (const model of ['one_time', 'subscription'] as const) {
      const { body, headers } = await execute(await marketplace.request(model));
      const { body: listing } = await call(marketplace, 'GET', `/v1/listings/${idOf(model)}`, renter);
      shapes.push([Object.keys(body), [...headers.keys()].toSorted(), Object.keys(listing)]);
    }
    expect(shapes[0]).toEqual(shapes[1]);
  });

  test('of a Per-Task rental is a consume_query with its run id, of the others no transaction [EXE-49]', async () => {
    const connection = new Connection(marketplace.dev.rpc_url, 'confirmed');
    const { body } = await execute(await marketplace.request('per_query'));
    const runId = String(body['run_id']).replaceAll('-', '');
    const signatures = await connection.getSignaturesForAddress(accountOf('per_query_balance', 'per_query'));
    const consumed = [];
    for (const { signature } of signatures) {
      const found = await connection.getTransaction(signature, { maxSupportedTransactionVersion: 0 });
      const message = found?.transaction.message;
      for (const instruction of message?.compiledInstructions ?? []) {
        const keys = instruction.accountKeyIndexes.map((index) => message?.staticAccountKeys[index]);
        const decoded = decodeInstruction(instruction.data, keys as PublicKey[]);
        if (decoded?.name === 'consume_query') {
          consumed.push(Buffer.from(decoded.args['runId'] as Uint8Array).toString('hex'));
        }
      }
    }
    expect(consumed.filter((id) => id === runId)).toHaveLength(1);

    const credential = accountOf('access_credential', 'one_time');
    const before = await connection.getSignaturesForAddress(credential);
    await execute(await marketplace.request('one_time'));
    expect(await connection.getSignaturesForAddress(credential)).toEqual(before);
  });

  test('without an input is not held against the schema [EXE-4]', async () => {
    const { task } = await marketplace.request('one_time');
    const { status, body } = await execute({ agent_id: idOf('one_time'), task });
    expect(status).toBe(200);
    expect(['completed', 'failed']).toContain(body['status']);
  });

  test.each(['standard', 'priority'])('may be asked for with the priority %s [EXE-6]', async (priority) => {
    const { status, body } = await execute({ ...(await marketplace.request('one_time')), priority });
    expect(status).toBe(200);
    expect(body).toMatchObject({ status: 'completed', cost_lamports: 0 });
  });

  test.each([1, 300])('may be given %i seconds [EXE-7]', async (timeout_seconds) => {
    const { status } = await execute({ ...(await marketplace.request('one_time')), timeout_seconds });
    expect(status).toBe(200);
  });
});

describe('a stream', () => {
  test('begins when its charge is confirmed, and not before [STR-4, STR-9]', async () => {
    const price = BigInt(
      (await execute(await marketplace.request('per_query'))).body['cost_lamports'] as number,
    );
    for (let time = 0; time < 5; time += 1) {
      const before = await balanceOnChain(marketplace, renter.wallet.publicKey);
      const response = await fetch(`${marketplace.dev.base_url}/v1/execute/stream`, {
        method: 'POST',
        headers: { authorization: `Bearer ${renter.token}`, 'content-type': 'application/json' },
        body: JSON.stringify(await marketplace.request('per_query')),
      });
      // Headers are here, the output is still to come.
      expect(await balanceOnChain(marketplace, renter.wallet.publicKey)).toBe(before - price);
      expect(response.headers.get('x-run-id')).toMatch(/^[0-9a-f-]{36}$/);
      expect(await response.text()).toContain(response.headers.get('x-run-id') ?? 'an id');
    }
  });
});

describe.each(ENDPOINTS)('%s refuses', (path) => {
  test.each<[string, Fields, string]>([
    ['no agent_id [EXE-1, STR-6]', { agent_id: undefined }, 'agent_id'],
    ['an agent_id that is no text [EXE-1]', { agent_id: 5 }, 'agent_id'],
    ['no task [EXE-1, STR-6]', { task: undefined }, 'task'],
    ['a task that is no text [EXE-1]', { task: {} }, 'task'],
    ['an empty task [EXE-4]', { task: '' }, 'task'],
    ['an endless task [EXE-4]', { task: 'x'.repeat(100_001) }, 'task'],
    ['an input that is a number [EXE-2]', { input: 42 }, 'input'],
    ['an input that is a list [EXE-2]', { input: [] }, 'input'],
    ['an input that is null [EXE-2]', { input: null }, 'input'],
    ['an input of another shape [EXE-2, EXE-21, STR-6]', { input: { csv: 42 } }, 'input'],
    ['another priority [EXE-6]', { priority: 'urgent' }, 'priority'],
    ['no time [EXE-7]', { timeout_seconds: 0 }, 'timeout_seconds'],
    ['301 seconds [EXE-7]', { timeout_seconds: 301 }, 'timeout_seconds'],
    ['half a second [EXE-7]', { timeout_seconds: 0.5 }, 'timeout_seconds'],
    ['a time that is text [EXE-7]', { timeout_seconds: '10' }, 'timeout_seconds'],
    ['input and input_uri [EXE-4]', { input: 'x', input_uri: 'ipfs://x' }, 'input_uri'],
    [
      'an input_uri of no store [EXE-4]',
      { input: undefined, input_uri: 'https://example.com/' },
      'input_uri',
    ],
    ['an unknown field [EXE-4]', { model: 'other' }, 'model'],
  ])('a request with %s, uncharged', async (_, change, field) => {
    const before = await balanceOnChain(marketplace, renter.wallet.publicKey);
    const answer = await execute({ ...(await marketplace.request('per_query')), ...change }, path);
    expect(answer.status).toBe(400);
    expect(answer.headers.get('content-type')).toContain('application/json');
    expect(errorOf(answer.body)).toMatchObject({ code: 'invalid_request', status: 400 });
    expect(String(errorOf(answer.body)['message'])).toContain(field);
    expect(await balanceOnChain(marketplace, renter.wallet.publicKey)).toBe(before);
  });

  test.each([
    ['Not An Id', 400, 'invalid_listing_id'],
    ['absent-aaaaaa', 404, 'listing_not_found'],
  ])('the listing %s: %i %s [EXE-26, STR-6, ERR-12, ERR-13]', async (agent_id, status, code) => {
    const answer = await execute({ agent_id, task: 'x' }, path);
    expect(answer.status).toBe(status);
    expect(errorOf(answer.body)).toMatchObject({ code, status });
  });

  test('a wallet without a credential [ERR-6, ID-34, STR-6]', async () => {
    const token = await login(marketplace, Keypair.generate());
    const answer = await execute(await marketplace.request('subscription'), path, token);
    expect(answer.status).toBe(403);
    expect(errorOf(answer.body)).toMatchObject({ code: 'credential_not_found', status: 403 });
    expect(errorOf(answer.body)).not.toHaveProperty('on_chain_error');
  });
});
