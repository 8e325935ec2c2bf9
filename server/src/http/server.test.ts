import { request as httpRequest } from 'node:http';
import { once } from 'node:events';
import { gzipSync } from 'node:zlib';
import { connect, type AddressInfo } from 'node:net';
import { errorEnvelope, jsonObject, OAUTH_PATHS, operations, type Operation } from '@agent-rental/contract';
import type { FastifyInstance, LightMyRequestResponse } from 'fastify';
import { afterEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { ApiError } from '../errors/api-error.js';
import { createHttpServer } from './server.js';
import { createInternalRequests } from './internal-requests.js';
import { createLogger } from '../platform/logger.js';
import { addOperation } from './operation-route.js';
import { memoryRateLimits } from '../rate-limits/memory.js';

const define = <const O extends Operation>(operation: O): O => operation;

const echo = define({
  id: 'echo',
  method: 'POST',
  path: '/v1/echo',
  summary: 'Echo',
  auth: 'bearer',
  scope: ['run'],
  query: z.strictObject({ times: z.coerce.number().int().max(3).default(1) }),
  body: z.strictObject({ text: z.string(), more: jsonObject.optional() }),
  status: 201,
  response: z.object({ text: z.string() }),
});
const thing = define({
  id: 'thing',
  method: 'GET',
  path: '/v1/things/:id',
  summary: 'Thing',
  auth: 'bearer',
  scope: ['run'],
  params: z.object({ id: z.string().max(5) }),
  status: 200,
  response: z.object({ id: z.string() }),
});
const open = define({
  id: 'open',
  method: 'GET',
  path: '/v1/open',
  summary: 'Open',
  auth: 'none',
  status: 200,
  response: z.object({ wallet: z.string() }),
});

const touch = define({
  id: 'touch',
  method: 'POST',
  path: '/v1/touch',
  summary: 'Touch',
  auth: 'bearer',
  scope: ['run'],
  status: 200,
  response: z.object({ touched: z.boolean() }),
});

const AUTH = { authorization: 'Bearer good' };
let app: FastifyInstance;
let log: string;
let lookUps: number;

async function start(
  requestsPerMinute = 100,
  requestTimeoutMs?: number,
  trustedProxies: string[] = [],
): Promise<void> {
  log = '';
  lookUps = 0;
  app = await createHttpServer({
    logger: createLogger('info', { write: (line: string) => void (log += line) }),
    rateLimits: memoryRateLimits(),
    requestsPerMinute,
    trustedProxies,
    ...(requestTimeoutMs === undefined ? {} : { requestTimeoutMs }),
    internalRequests: createInternalRequests(),
    authenticate: async (authorization) => {
      lookUps += 1;
      const [, number] = /^Bearer good(\d*)$/.exec(authorization ?? '') ?? [];
      if (number === undefined) throw new ApiError('unauthorized', 'Not one of ours.');
      return { wallet: `wallet${number}`, rateKey: `wallet:${number}` };
    },
  });
  addOperation(app, echo, async ({ body, query }) => ({ text: body.text.repeat(query.times) }));
  addOperation(app, touch, async () => ({ touched: true }));
  addOperation(app, open, async ({ principal }) => ({ wallet: principal.wallet }));
  addOperation(app, thing, async ({ params }) => {
    if (params.id === 'none') throw new ApiError('listing_not_found', 'There is none.');
    if (params.id === 'later') {
      throw new ApiError('service_unavailable', 'Later.', {
        retryAfterSeconds: 7,
        runId: 'run-1',
        onChainError: { program: 'p', anchor_code: 6013 },
      });
    }
    if (params.id === 'soon') throw new ApiError('service_unavailable', 'Soon.');
    if (params.id === 'crash') throw new Error('postgres://user:hunter2@db failed at /srv/app.js');
    return { id: params.id };
  });
  app.get('/status', async () => ({ status: 'ok' }));
}

afterEach(() => app.close());

function expectError(response: LightMyRequestResponse, status: number, code: string): string {
  const { error } = errorEnvelope.parse(response.json());
  expect({ status: response.statusCode, code: error.code, inBody: error.status }).toEqual({
    status,
    code,
    inBody: status,
  });
  expect(response.headers['content-type']).toMatch(/^application\/json/);
  expect(response.headers['x-request-id']).toMatch(/^req_[0-9a-f-]{36}$/);
  expect(error.request_id).toBe(response.headers['x-request-id']);
  return error.message;
}

function expectRateHeaders(response: LightMyRequestResponse): void {
  for (const name of ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset']) {
    expect(`${name} ${String(response.headers[name])}`).toMatch(/^x-ratelimit-\w+ \d+$/);
  }
  const inWindow = Number(response.headers['x-ratelimit-reset']) - Date.now() / 1000;
  expect(inWindow).toBeGreaterThan(0);
  expect(inWindow).toBeLessThan(62);
}

const post = (payload: string | object, headers: Record<string, string> = {}) =>
  app.inject({ method: 'POST', url: '/v1/echo', payload, headers: { ...AUTH, ...headers } });
const JSON_TYPE = { 'content-type': 'application/json' };

describe('an answer', () => {
  it('of success has the request id, the limits, and the operation’s body [ERR-3, LIM-5]', async () => {
    await start();
    const response = await app.inject({
      method: 'POST',
      url: '/v1/echo?times=2',
      payload: { text: 'ab' },
      headers: AUTH,
    });
    expect(response.statusCode).toBe(201);
    expect(response.json()).toEqual({ text: 'abab' });
    expect(response.headers['x-request-id']).toMatch(/^req_/);
    expect(response.headers['x-ratelimit-limit']).toBe('100');
    expect(response.headers['x-ratelimit-remaining']).toBe('99');
    expectRateHeaders(response);
  });

  it('has a new request id each time, for every request of the caller [ERR-3]', async () => {
    await start();
    const headers = { ...AUTH, 'x-request-id': 'mine', 'request-id': 'mine' };
    const ids = await Promise.all(
      [1, 2].map(async () => (await app.inject({ url: '/v1/things/a', headers })).headers['x-request-id']),
    );
    expect(new Set([...ids, 'mine']).size).toBe(3);
  });

  it('of 401 says how to authenticate, and has the limits [ERR-29, LIM-5]', async () => {
    await start();
    for (const headers of [{}, { authorization: 'Bearer bad' }, { authorization: 'Basic good' }]) {
      const response = await app.inject({ url: '/v1/things/a', headers });
      expectError(response, 401, 'unauthorized');
      expectRateHeaders(response);
      expect(response.headers['www-authenticate']).toBe('Bearer');
    }
  });

  it('of 404 has the limits, for an unknown resource and route [ERR-5, LIM-5]', async () => {
    await start();
    const unknown = await app.inject({ url: '/v1/things/none', headers: AUTH });
    expectError(unknown, 404, 'listing_not_found');
    expectRateHeaders(unknown);
    for (const [method, url] of [
      ['GET', '/v1/nowhere'],
      ['GET', '/'],
      ['GET', '/v1/things'],
      ['GET', '/v1/__proto__'],
    ] as const) {
      const response = await app.inject({ method, url, headers: AUTH });
      expect(expectError(response, 404, 'not_found')).toContain(`${method} ${url}`);
      expectRateHeaders(response);
    }
  });

  it.each([
    ['PUT', '/v1/echo', 'POST'],
    ['GET', '/v1/echo?a=b', 'POST'],
    ['POST', '/v1/things/a', 'GET, HEAD'],
    ['DELETE', '/v1/things/a/', 'GET, HEAD'],
    ['PROPFIND', '/v1/open', 'GET, HEAD'],
  ] as const)('of 405 names the methods of the path: %s %s [ERR-5, LIM-5]', async (method, url, allow) => {
    await start();
    // A body that no parser reads does not hide the method.
    const payload = method === 'GET' ? {} : { payload: 'x', headers: { 'content-type': 'nonsense' } };
    const response = await app.inject({ method: method as 'GET', url, ...payload });
    expect(expectError(response, 405, 'invalid_request')).toContain(`has no ${method}. Use ${allow}.`);
    expect(response.headers['allow']).toBe(allow);
    expectRateHeaders(response);
  });

  it('of 404 does not repeat a query, which may hold a secret', async () => {
    await start();
    const response = await app.inject({ url: '/v1/nowhere?api_key=hunter2' });
    expect(response.body).not.toContain('hunter2');
  });

  it('of 503 says when to come back, and its subject [ERR-16]', async () => {
    await start();
    const response = await app.inject({ url: '/v1/things/later', headers: AUTH });
    expectError(response, 503, 'service_unavailable');
    expectRateHeaders(response);
    expect(response.headers['retry-after']).toBe('7');
    expect(response.json()).toMatchObject({
      error: { run_id: 'run-1', on_chain_error: { program: 'p', anchor_code: 6013 } },
    });
  });

  it('of 503 says when to retry also where the time is unknown [ERR-16]', async () => {
    await start();
    const response = await app.inject({ url: '/v1/things/soon', headers: AUTH });
    expectError(response, 503, 'service_unavailable');
    expect(response.headers['retry-after']).toBe('5');
  });

  it('of 500 says nothing of its cause, which the log has under the request id [ERR-15, ERR-3, LIM-5]', async () => {
    await start();
    const response = await app.inject({ url: '/v1/things/crash', headers: AUTH });
    expectError(response, 500, 'internal_error');
    expectRateHeaders(response);
    expect(response.body).not.toMatch(/hunter2|postgres|app\.js|stack/);
    const line = log.split('\n').find((text) => text.includes('hunter2'));
    expect(line).toContain(String(response.headers['x-request-id']));
  });

  it('of 429 comes after exactly the limit, with Retry-After [ERR-14, LIM-5]', async () => {
    await start(3);
    const responses = await Promise.all(
      Array.from({ length: 10 }, () => app.inject({ url: '/v1/things/a', headers: AUTH })),
    );
    expect(responses.filter((response) => response.statusCode === 200)).toHaveLength(3);
    for (const response of responses.filter(({ statusCode }) => statusCode !== 200)) {
      expectError(response, 429, 'rate_limit_exceeded');
      expectRateHeaders(response);
      expect(response.headers['x-ratelimit-remaining']).toBe('0');
      const seconds = Number(response.headers['retry-after']);
      expect(seconds).toBeGreaterThanOrEqual(1);
      expect(seconds).toBeLessThanOrEqual(61);
    }
  });

  it('of 429 also ends guessing at tokens, and strangers asking open operations [LIM-9]', async () => {
    await start(3);
    for (const url of ['/v1/things/a', '/v1/open', '/v1/things/a']) await app.inject({ url });
    expectError(await app.inject({ url: '/v1/things/a' }), 429, 'rate_limit_exceeded');
    expectError(await app.inject({ url: '/v1/open' }), 429, 'rate_limit_exceeded');
    const known = await app.inject({ url: '/v1/things/a', headers: AUTH });
    expect(known.statusCode).toBe(200);
  });

  it('of 429 comes before the look-up of a bearer, once too many of its address were wrong [LIM-9]', async () => {
    await start(3);
    const statuses: number[] = [];
    for (let index = 0; index < 10; index += 1) {
      const headers = { authorization: `Bearer wrong${index}` };
      statuses.push((await app.inject({ url: '/v1/things/a', headers })).statusCode);
    }
    expect(statuses).toEqual([401, 401, 401, ...Array.from({ length: 7 }, () => 429)]);
    expect(lookUps).toBe(3);
    // Logging in is counted apart.
    expect((await app.inject({ url: '/v1/open' })).statusCode).toBe(200);
  });

  it('of 429 for pages leaves the login of their address open [LIM-9]', async () => {
    await start(3);
    app.get('/dashboard', { config: { auth: 'none' } }, async () => 'a page');
    app.get(OAUTH_PATHS.token, { config: { auth: 'none' } }, async () => 'a token');
    addOperation(app, operations.getChallenge, async ({ query }) => ({
      challenge: query.wallet,
      expires_at: 60,
    }));
    const statuses: number[] = [];
    for (let page = 0; page < 4; page += 1)
      statuses.push((await app.inject({ url: '/dashboard' })).statusCode);
    expect(statuses).toEqual([200, 200, 200, 429]);
    const wallet = '11111111111111111111111111111112';
    expect((await app.inject({ url: `/v1/auth/challenge?wallet=${wallet}` })).statusCode).toBe(200);
    // An app's tokens are its login.
    expect((await app.inject({ url: OAUTH_PATHS.token })).statusCode).toBe(200);
  });

  it('of 429 is for one address, as a trusted proxy tells it, and no other [LIM-9]', async () => {
    const [proxy, stranger] = ['10.1.2.3', '203.0.113.1'];
    const statusOf = async (remoteAddress: string, forwarded: string) => {
      const headers = { 'x-forwarded-for': forwarded };
      return (await app.inject({ url: '/v1/open', remoteAddress, headers })).statusCode;
    };
    await start(1, undefined, ['10.0.0.0/8']);
    expect(await statusOf(proxy, '198.51.100.1')).toBe(200);
    expect(await statusOf(proxy, '198.51.100.1')).toBe(429);
    expect(await statusOf(proxy, '198.51.100.2')).toBe(200);
    // The caller's part before the proxy's entry is not believed.
    expect(await statusOf(proxy, '192.0.2.7, 198.51.100.1')).toBe(429);
    expect(await statusOf(stranger, '192.0.2.8')).toBe(200);
    expect(await statusOf(stranger, '192.0.2.9')).toBe(429);
  });

  it('of 429 comes to all wallets of an address after ten times the limit of one [LIM-1, LIM-5, LIM-9]', async () => {
    await start(3, undefined, ['10.0.0.0/8']);
    const ask = (wallet: number, forwarded: string, remoteAddress = '10.1.2.3') =>
      app.inject({
        url: '/v1/things/a',
        remoteAddress,
        headers: { authorization: `Bearer good${wallet}`, 'x-forwarded-for': forwarded },
      });
    const [one, neighbour] = ['2001:db8:1:2::1', '2001:db8:1:2:ffff::7'];
    // Refused requests of one wallet take nothing from its neighbours.
    for (let time = 0; time < 60; time += 1) await ask(0, one);
    for (let wallet = 1; wallet <= 9; wallet += 1) {
      for (let time = 0; time < 3; time += 1) expect((await ask(wallet, one)).statusCode).toBe(200);
    }
    const refused = await ask(10, neighbour);
    expect(expectError(refused, 429, 'rate_limit_exceeded')).toContain('at one address');
    expectRateHeaders(refused);
    expect([refused.headers['x-ratelimit-limit'], refused.headers['x-ratelimit-remaining']]).toEqual([
      '30',
      '0',
    ]);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    for (const other of ['2001:db8:1:3::1', '198.51.100.1'])
      expect((await ask(10, other)).statusCode).toBe(200);
    // Whom no trusted proxy names, is the connection's end.
    expect((await ask(11, one, '203.0.113.1')).statusCode).toBe(200);
    // Pages and logins of the address have counts to themselves.
    const open = { url: '/v1/open', remoteAddress: '10.1.2.3', headers: { 'x-forwarded-for': one } };
    expect((await app.inject(open)).statusCode).toBe(200);
  });

  it('comes without limit from a route that is no operation', async () => {
    await start(1);
    for (let time = 0; time < 3; time += 1) {
      expect((await app.inject({ url: '/status' })).statusCode).toBe(200);
    }
  });

  it('from a route that is no operation takes nothing from the limits', async () => {
    await start(2);
    for (let time = 0; time < 5; time += 1) await app.inject({ url: '/status' });
    expect((await app.inject({ url: '/v1/open' })).statusCode).toBe(200);
  });

  it('to a preflight, and to any other OPTIONS, has request id and limits [ERR-3, LIM-5]', async () => {
    await start();
    const preflight = { origin: 'https://example.com', 'access-control-request-method': 'POST' };
    for (const headers of [preflight, {}]) {
      const response = await app.inject({ method: 'OPTIONS', url: '/v1/echo', headers });
      expect(response.statusCode).toBe(204);
      expect(response.headers['x-request-id']).toMatch(/^req_/);
      expectRateHeaders(response);
    }
  });

  it('may be read by scripts of any site, with its headers [SVC-4]', async () => {
    await start();
    const response = await app.inject({ url: '/v1/open', headers: { origin: 'https://example.com' } });
    expect(response.headers['access-control-allow-origin']).toBe('*');
    expect(response.headers['access-control-allow-credentials']).toBeUndefined();
    const exposed = String(response.headers['access-control-expose-headers']).toLowerCase();
    for (const name of ['x-request-id', 'x-run-id', 'x-ratelimit-limit', 'retry-after', 'payment-required']) {
      expect(exposed).toContain(name);
    }
  });
});

describe('a request', () => {
  it.each([
    ['cut off [ERR-10]', '{"text":"a"'],
    ['empty [ERR-10]', ''],
    ['not JSON [ERR-10]', 'text=a'],
    ['a number that would change', '{"text":"a","more":{"ids":[1,1917043659912705297]}}'],
    ['a prototype key [ERR-21]', '{"text":"a","__proto__":{"admin":true}}'],
    ['a prototype key further in [ERR-21]', '{"text":"a","more":{"__proto__":{"admin":true}}}'],
    ['a constructor with a prototype [ERR-21]', '{"text":"a","constructor":{"prototype":{"admin":true}}}'],
  ])('whose body is %s is refused', async (what, payload) => {
    await start();
    const response = await post(payload, JSON_TYPE);
    const told = expectError(response, 400, 'invalid_request');
    expect(told.includes('These names are not taken.')).toBe(what.includes('ERR-21'));
    expect(told.includes('at more.ids.1: 1917043659912705297')).toBe(what.includes('number'));
    expectRateHeaders(response);
    expect(({} as Record<string, unknown>)['admin']).toBeUndefined();
  });

  it.each([
    ['of another type', { text: 1 }, 'text'],
    ['without a field', {}, 'text'],
    ['with a field too many', { text: 'a', extra: 1 }, 'extra'],
  ])('whose body is %s is refused, naming the field [ERR-11]', async (_, payload, field) => {
    await start();
    expect(expectError(await post(payload), 400, 'invalid_request')).toContain(field);
  });

  it.each([
    [{ 'content-encoding': 'gzip' }, gzipSync('{"text":"a"}'), 415, 'is compressed'],
    [{ 'content-encoding': 'br, identity' }, '{"text":"a"}', 415, 'is compressed'],
    [{}, JSON.stringify({ text: 'x'.repeat(3_000_000) }), 413, 'more than 65536 bytes'],
  ])(
    'with %j and a body that is not read gets the exact status [ERR-33]',
    async (more, payload, status, why) => {
      await start();
      const response = await post(payload, { ...JSON_TYPE, ...more });
      expect(expectError(response, status, 'invalid_request')).toContain(why);
      expect(response.headers['accept-encoding']).toBe(status === 415 ? 'identity' : undefined);
    },
  );

  it('whose body is not encoded, and says so, is read', async () => {
    await start();
    const identity = { ...JSON_TYPE, 'content-encoding': 'identity' };
    expect((await post('{"text":"a"}', identity)).statusCode).toBe(201);
  });

  it.each(['null', '[]', '"text"', '1'])('whose body is %s is refused [ERR-21]', async (payload) => {
    await start();
    expectError(await post(payload, JSON_TYPE), 400, 'invalid_request');
  });

  it('without a body is served where none is needed, whatever type it names', async () => {
    await start();
    for (const headers of [AUTH, { ...AUTH, ...JSON_TYPE }]) {
      const response = await app.inject({ method: 'POST', url: '/v1/touch', headers });
      expect(response.json()).toEqual({ touched: true });
    }
  });

  it('without a body is told that one is required [ERR-10]', async () => {
    await start();
    const response = await app.inject({ method: 'POST', url: '/v1/echo', headers: AUTH });
    expect(expectError(response, 400, 'invalid_request')).toContain('body');
  });

  it.each(['text/plain', 'application/x-www-form-urlencoded', 'application/xml', 'nonsense'])(
    'of the content type %s is refused [ERR-21]',
    async (type) => {
      await start();
      expectError(await post('{"text":"a"}', { 'content-type': type }), 415, 'invalid_request');
    },
  );

  it.each([
    ['a byte that begins nothing', [0xff]],
    ['half a character', [0xe2, 0x82]],
    ['an overlong slash', [0xc0, 0xaf]],
    ['half of a surrogate pair', [0xed, 0xa0, 0x80]],
  ])('with %s in its JSON is refused, not repaired [ERR-21]', async (_, bytes) => {
    await start();
    const payload = Buffer.concat([Buffer.from('{"text":"a'), Buffer.from(bytes), Buffer.from('"}')]);
    const response = await app.inject({
      method: 'POST',
      url: '/v1/echo',
      payload,
      headers: { ...AUTH, ...JSON_TYPE },
    });
    expect(expectError(response, 400, 'invalid_request')).toContain('UTF-8');
    expect((await post({ text: 'ä€😀' })).json()).toEqual({ text: 'ä€😀' });
  });

  it('larger than the bound is refused [ERR-21]', async () => {
    await start();
    const text = 'x'.repeat(60_000);
    expect((await post({ text })).statusCode).toBe(201);
    expectError(await post({ text: text + text }), 413, 'invalid_request');
  });

  it('nested very deeply is refused or served, and harms nothing [ERR-21]', async () => {
    await start();
    const deep = `{"text":"a","more":{"x":${'['.repeat(100_000)}${']'.repeat(100_000)}}}`;
    expectError(await post(deep, JSON_TYPE), 413, 'invalid_request');
    expect((await post({ text: 'a' })).statusCode).toBe(201);
  });

  it('with a query or path that is not valid is refused, naming it', async () => {
    await start();
    const refused = async (url: string, method: 'GET' | 'POST' = 'POST') =>
      expectError(
        await app.inject({
          method,
          url,
          headers: AUTH,
          ...(method === 'POST' ? { payload: { text: 'a' } } : {}),
        }),
        400,
        'invalid_request',
      );
    expect(await refused('/v1/echo?times=4')).toContain('times');
    expect(await refused('/v1/echo?time=1')).toContain('time');
    expect(await refused('/v1/echo?times=1&times=2')).toContain('times');
    expect(await refused('/v1/echo?__proto__=1')).toContain('query');
    expect(await refused('/v1/things/abcdef', 'GET')).toContain('id');
    expect(await refused('/v1/things/%00', 'GET')).toContain('null character');
    expect(await refused('/v1/echo?times=%00')).toContain('null character');
  });

  it.each(['/v1/things/%zz', '/v1/things/%', '/%c0%ae%c0%ae/'])(
    'whose path cannot be decoded (%s) gets the same kind of error as every other [ERR-21]',
    async (url) => {
      await start();
      const response = await app.inject({ url, headers: AUTH });
      expectError(response, 400, 'invalid_request');
      expectRateHeaders(response);
    },
  );

  it('whose path has a very long part gets the same kind of error as every other [ERR-21]', async () => {
    await start();
    const response = await app.inject({ url: `/v1/things/${'a'.repeat(5000)}`, headers: AUTH });
    expectError(response, 400, 'invalid_request');
    expectRateHeaders(response);
  });

  /** Sends bytes, and gives all that came back when the server has ended the connection. */
  async function rawAnswer(bytes: string): Promise<string> {
    await app.listen({ port: 0, host: '127.0.0.1' });
    const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1');
    let answer = '';
    socket.setEncoding('utf8').on('data', (text: string) => (answer += text));
    socket.write(bytes);
    await once(socket, 'end');
    socket.destroy();
    return answer;
  }

  it.each([
    ['is not HTTP', 'hello\r\n\r\n', 'not valid HTTP'],
    ['has a method that does not exist', 'FETCH / HTTP/1.1\r\nhost: a\r\n\r\n', 'not valid HTTP'],
    [
      'has headers beyond every bound',
      `GET / HTTP/1.1\r\nx: ${'a'.repeat(100_000)}\r\n\r\n`,
      'too large',
      '431 Request Header Fields Too Large',
    ],
    [
      'has two lengths',
      'POST /v1/echo HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n{}',
      'not valid HTTP',
    ],
    [
      'has a body that never ends [ERR-33]',
      'POST /v1/echo HTTP/1.1\r\nhost: a\r\nauthorization: Bearer good\r\n' +
        'content-type: application/json\r\ncontent-length: 100\r\n\r\n{',
      'too long to arrive',
      '408 Request Timeout',
    ],
    [
      'has headers that never end',
      'GET / HTTP/1.1\r\nhost: a\r\n',
      'too long to arrive',
      '408 Request Timeout',
    ],
  ])(
    'that %s gets the same kind of error as every other [ERR-33, LIM-5]',
    async (_, bytes, reason, line = '400 Bad Request') => {
      await start(100, 300);
      const [head = '', body = ''] = (await rawAnswer(bytes)).split('\r\n\r\n');
      expect(head.split('\r\n')[0]).toBe(`HTTP/1.1 ${line}`);
      const { error } = errorEnvelope.parse(JSON.parse(body));
      expect(error).toMatchObject({ code: 'invalid_request', status: Number.parseInt(line, 10) });
      expect(error.message).toContain(reason);
      expect(head).toContain(`X-Request-Id: ${error.request_id}`);
      for (const name of ['Limit', 'Remaining', 'Reset'])
        expect(head).toMatch(new RegExp(`X-RateLimit-${name}: \\d+`));
    },
  );

  it('that breaks off in its body leaves the server up [ERR-21]', async () => {
    await start();
    await app.listen({ port: 0, host: '127.0.0.1' });
    const { port } = app.server.address() as AddressInfo;
    const broken = httpRequest({
      port,
      host: '127.0.0.1',
      method: 'POST',
      path: '/v1/echo',
      headers: { ...AUTH, ...JSON_TYPE, 'content-length': 100 },
    });
    broken.on('error', () => undefined);
    const arrived = once(app.server, 'request');
    broken.write('{"text":');
    await arrived;
    broken.destroy();
    const response = await fetch(`http://127.0.0.1:${port}/v1/things/a`, { headers: AUTH });
    expect(response.status).toBe(200);
  });
});

describe('the log', () => {
  it('has each request with its route and status, and no bearer [ERR-3, OPS-9]', async () => {
    await start();
    await app.inject({ url: '/v1/things/none?q=secret-query', headers: AUTH });
    const line = JSON.parse(log.trim().split('\n').at(-1) ?? '') as Record<string, unknown>;
    expect(line).toMatchObject({ method: 'GET', route: '/v1/things/:id', status: 404, wallet: 'wallet' });
    expect(log).not.toContain('good');
    expect(log).not.toContain('secret-query');
  });
});
