import {
  createHmac,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  hkdfSync,
  sign,
} from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createClient } from '@agent-rental/sdk';
import { createApiKey, keypairSigner } from '@agent-rental/sdk/solana';
import { Keypair } from '@solana/web3.js';
import bs58 from 'bs58';
import nacl from 'tweetnacl';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { call, login } from '../support/http.js';
import { attach, type Marketplace, type Route } from '../support/marketplace.js';
import { newRenter, rentOverHttp, type Renter } from '../support/renter.js';

/** Routes that need no authentication. Every other route has to refuse an unknown caller. */
const PUBLIC = new Set([
  'GET /v1/auth/challenge',
  'POST /v1/auth/token',
  'GET /v1/network',
  'GET /packages/:name.tgz',
  'GET /health',
  'GET /ready',
  'GET /metrics',
  'GET /openapi.json',
  'GET /.well-known/jwks.json',
  'GET /.well-known/oauth-authorization-server',
  'GET /.well-known/oauth-protected-resource',
  'GET /.well-known/oauth-protected-resource/mcp',
  'POST /v1/apps',
  'GET /mcp/server-card',
  'GET /.well-known/mcp/server-card.json',
  'GET /.well-known/ai-catalog.json',
  'GET /.well-known/agent-card.json',
  'GET /a2a/:listing_id/.well-known/agent-card.json',
  'GET /.well-known/skills/index.json',
  'GET /.well-known/skills/:name/SKILL.md',
  'GET /llms.txt',
  'GET /robots.txt',
  'GET /AGENTS.md',
  'GET /ipfs/:cid',
  'GET /',
  'GET /dashboard/listings/:listing_id',
  'GET /creators/:wallet',
  'GET /dashboard/assets/pages.js',
  'GET /dashboard/keys',
  'GET /dashboard/approvals',
  'GET /dashboard/approvals/:approval_id',
  'GET /dashboard/consent',
  'GET /dashboard',
  'GET /dashboard/runs',
  'GET /dashboard/runs/:run_id',
  'GET /sitemap.xml',
  'GET /previews/:listing_id.png',
  'GET /icons/:sha256',
  'GET /icon.png',
  'GET /sitemaps/:part.xml',
  'GET /balances/:wallet',
  'POST /dashboard/test-funds',
  'GET /dashboard/creator',
  'GET /dashboard/operator',
  'GET /dashboard/creator/publish',
  'GET /dashboard/creator/agents/:listing_id',
  'GET /dashboard/rent/:listing_id',
  'GET /dashboard/events',
  'GET /email/confirm',
  'POST /email/confirm',
  'GET /email/unsubscribe',
  'POST /email/unsubscribe',
  'OPTIONS *',
]);
/** Routes with a resource of another wallet in the path: they show public data, or the caller's own data. */
const FOR_EVERYBODY = new Set([
  'GET /v1/listings/:id',
  'GET /v1/listings/:id/versions',
  'GET /v1/listings/:id/reviews',
  'POST /v1/listings/:id/reports',
  'GET /v1/credentials/:listing_id',
  'POST /a2a/:listing_id',
]);
/** Open to a caller that meets a condition that this stranger does not; everywhere else the resource is not found. */
const CONDITIONAL = new Set(['POST /v1/listings/:id/reviews']);
/** Speaks JSON-RPC, so that its refusals of a body are the protocol's. Its authentication is ours. */
const JSON_RPC = new Set(['GET /mcp', 'POST /mcp', 'DELETE /mcp', 'POST /a2a', 'POST /a2a/:listing_id']);
/** Answer and refuse in the form of OAuth; `test/src/oauth` attacks them. */
const OAUTH = new Set(['POST /oauth/register', 'POST /oauth/token', 'POST /oauth/revoke']);
/** Takes bytes of any form: only their number is checked. */
const ANY_BYTES = new Set(['POST /v1/files']);
/** Bytes of a body that is too large: by route, and by default. */
const TOO_LARGE_BYTES: Record<string, number> = {
  default: 2_000_000,
  'POST /v1/files': 10_500_000,
};

/** HEAD is GET without a body. */
const nameOf = ({ method, path }: Route) => `${method === 'HEAD' ? 'GET' : method} ${path}`;
const routes = inject('routes').map((route) => ({ ...route, route: `${route.method} ${route.path}` }));
const closed = routes.filter((route) => !PUBLIC.has(nameOf(route)) && !OAUTH.has(nameOf(route)));
const withBody = routes.filter(
  (route) =>
    ['POST', 'PUT', 'PATCH'].includes(route.method) &&
    !JSON_RPC.has(nameOf(route)) &&
    !OAUTH.has(nameOf(route)),
);

interface Raw {
  status: number;
  headers: Headers;
  text: string;
}

let marketplace: Marketplace;
let owner: Renter;
let stranger: Renter;
/** A resource of `owner`, or of the demo's creator, for each parameter of a path. */
let resources: Record<string, string>;
/** Bearers that must not pass, each with the code of its refusal. */
let bearers: [what: string, bearer: string | undefined, code: string][];
/** The example input of an operation, by method and path, from the API's description. */
let examples: Map<string, unknown>;

beforeAll(async () => {
  marketplace = await attach(inject('stateDir'));
  [owner, stranger] = [await newRenter(marketplace), await newRenter(marketplace)];
  const signer = keypairSigner(owner.wallet);
  const client = createClient({ baseUrl: marketplace.dev.base_url, signer });
  await rentOverHttp(marketplace, owner, 'one_time');
  const run = await call(marketplace, 'POST', '/v1/execute', {
    token: owner.token,
    body: await marketplace.request('one_time'),
  });
  const kept = await createApiKey(client, signer, 'kept', { policy: { ask_above_lamports: 0 } });
  await rentOverHttp(marketplace, owner, 'per_query');
  const asked = await call(marketplace, 'POST', '/v1/execute', {
    token: kept.key,
    body: await marketplace.request('per_query'),
  });
  const revoked = await createApiKey(client, signer, 'revoked');
  await client.revokeApiKey(revoked.id);
  examples = await readExamples();
  const job = await call(marketplace, 'POST', '/v1/agents', {
    token: owner.token,
    body: examples.get('POST /v1/agents'),
  });
  const file = await call(marketplace, 'POST', '/v1/files', { token: owner.token, raw: 'a,b\n1,2\n' });
  const webhook = await client.createWebhook({ url: 'https://webhook.invalid/' });
  const {
    events: [event],
  } = await client.listEvents();
  const listing = marketplace.listing('one_time').id;
  resources = {
    run_id: String(run.body['run_id']),
    job_id: String(job.body['job_id']),
    key_id: kept.id,
    approval_id: (asked.body['error'] as { approval: { id: string } }).approval.id,
    file_id: String(file.body['file_id']),
    webhook_id: webhook.id,
    event_id: String(event?.id),
    id: listing,
    listing_id: listing,
    reviewer: owner.wallet.publicKey.toBase58(),
  };
  bearers = await badBearers(owner, revoked.key);
});

async function readExamples(): Promise<Map<string, unknown>> {
  const { body } = await call(marketplace, 'GET', '/openapi.json');
  const paths = body['paths'] as Record<
    string,
    Record<string, { requestBody?: { content: Record<string, { example: unknown }> } }>
  >;
  return new Map(
    Object.entries(paths).flatMap(([path, operations]) =>
      Object.entries(operations).map(([method, { requestBody }]): [string, unknown] => [
        `${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`,
        requestBody?.content['application/json']?.example,
      ]),
    ),
  );
}

const base64url = (value: string | Buffer) => Buffer.from(value).toString('base64url');

/** Makes tokens of every wrong kind, with the server's key where the kind needs it. */
async function badBearers({ token, wallet }: Renter, revokedKey: string): Promise<typeof bearers> {
  const master = await readFile(join(marketplace.stateDir, 'keys', 'master-key'), 'utf8');
  const seed = hkdfSync('sha256', Buffer.from(master, 'base64'), new Uint8Array(), 'agent-rental/jwt/v1', 32);
  const pkcs8 = Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), Buffer.from(seed)]);
  const ours = createPrivateKey({ key: pkcs8, format: 'der', type: 'pkcs8' });
  const ourPublicPem = createPublicKey(ours).export({ format: 'pem', type: 'spki' }) as string;
  const now = Math.floor(Date.now() / 1000);
  const claims = { iss: 'agent-rental', sub: wallet.publicKey.toBase58(), iat: now, exp: now + 600 };
  const unsigned = (alg: string, payload: object) =>
    `${base64url(JSON.stringify({ alg, typ: 'JWT' }))}.${base64url(JSON.stringify(payload))}`;
  const eddsa = (payload: object, key = ours) => {
    const text = unsigned('EdDSA', payload);
    return `${text}.${base64url(sign(null, Buffer.from(text), key))}`;
  };
  const hs256 = (secret: string) => {
    const text = unsigned('HS256', claims);
    return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`;
  };
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
  const rs256 = unsigned('RS256', claims);
  const [header, , signature] = token.split('.');

  // The tokens below fail for their faults, and not because this test cannot make a good one.
  const good = await call(marketplace, 'GET', '/v1/credentials', { token: eddsa(claims) });
  expect(good.status).toBe(200);

  return [
    ['no token', undefined, 'unauthorized'],
    ['a garbage token', 'garbage', 'unauthorized'],
    ['a garbage JWT', 'a.b.c', 'unauthorized'],
    ["another environment's key", `ark_live_${'x'.repeat(43)}`, 'invalid_api_key'],
    ['an unknown key', `ark_dev_${'x'.repeat(43)}`, 'invalid_api_key'],
    ['a revoked key', revokedKey, 'invalid_api_key'],
    ['an expired JWT', eddsa({ ...claims, iat: now - 7200, exp: now - 60 }), 'jwt_expired'],
    ['a JWT with alg none', `${unsigned('none', claims)}.`, 'unauthorized'],
    ['a JWT with alg none and a signature', `${unsigned('none', claims)}.${signature}`, 'unauthorized'],
    ['a JWT by another key', eddsa(claims, generateKeyPairSync('ed25519').privateKey), 'unauthorized'],
    ['a JWT by HS256, keyed with our public key', hs256(ourPublicPem), 'unauthorized'],
    ['a JWT by RS256', `${rs256}.${base64url(sign('sha256', Buffer.from(rs256), rsa))}`, 'unauthorized'],
    ['a JWT without an end', eddsa({ iss: claims.iss, sub: claims.sub }), 'unauthorized'],
    ['a JWT of another issuer', eddsa({ ...claims, iss: 'another' }), 'unauthorized'],
    [
      'a JWT whose wallet was changed',
      `${header}.${base64url(JSON.stringify({ ...claims, sub: Keypair.generate().publicKey.toBase58() }))}.${signature}`,
      'unauthorized',
    ],
  ];
}

/** The path of a route with a resource of another wallet in it. */
function pathOf({ path }: Route): string {
  return path.replaceAll(/:(\w+)/g, (_, name: string) => {
    const resource = resources[name];
    if (resource === undefined) throw new Error(`Add the ${name} of another wallet to this test.`);
    return resource;
  });
}

async function send(route: Route, bearer: string | undefined, body: unknown): Promise<Raw> {
  const headers: Record<string, string> = bearer === undefined ? {} : { authorization: `Bearer ${bearer}` };
  const init: RequestInit = { method: route.method, headers };
  if (!['GET', 'HEAD', 'OPTIONS'].includes(route.method) && body !== undefined) {
    headers['content-type'] = 'application/json';
    init.body = typeof body === 'string' ? body : JSON.stringify(body);
  }
  const response = await fetch(marketplace.dev.base_url + pathOf(route), init);
  return { status: response.status, headers: response.headers, text: await response.text() };
}

const INTERNALS =
  /node_modules|\.[jt]s:\d|\bat \w+ \(|Error:|postgres|select |insert |ECONN|kysely|fastify|FST_|127\.0\.0\.1|\/tmp|undefined/i;

interface Envelope {
  error: Record<string, unknown>;
}

/** The API's form of an error, also where JSON-RPC carries it. */
function envelopeOf(body: Envelope & { jsonrpc?: unknown }): Envelope {
  return body.jsonrpc === undefined ? body : { error: body.error['data'] as Envelope['error'] };
}

/** Expects an error in the form of all errors, without internal data. */
function expectError(answer: Raw, status: number, codes: string[]): void {
  expect(answer.status, answer.text).toBe(status);
  expect(answer.headers.get('x-request-id')).toMatch(/^req_[0-9a-f-]{36}$/);
  for (const name of ['limit', 'remaining', 'reset']) {
    expect(answer.headers.get(`x-ratelimit-${name}`), name).toMatch(/^\d+$/);
  }
  expect(answer.headers.get('www-authenticate') ?? '').toMatch(
    status === 401
      ? /^Bearer( error="invalid_token", error_description="[^"]+",)?( resource_metadata="[^"]+", scope="run rent")?$/
      : /^$/,
  );
  expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
  // The answer to a HEAD has no body.
  if (answer.text === '') return;
  const { error, ...rest } = envelopeOf(JSON.parse(answer.text) as Envelope);
  expect(rest).toEqual({});
  expect(error).toMatchObject({ status, request_id: answer.headers.get('x-request-id') });
  expect(codes).toContain(error['code']);
  const { reason = error['message'], ...always } = error;
  expect(String(error['message']).startsWith(String(reason))).toBe(true);
  expect(Object.keys(always).toSorted()).toEqual(['code', 'message', 'request_id', 'status']);
  expect(String(error['message']).length).toBeGreaterThan(10);
  expect(answer.text).not.toMatch(INTERNALS);
}

test('the routes equal the running server’s, and the public ones are all known', () => {
  expect(closed.length).toBeGreaterThan(10);
  const names = new Set(routes.map(nameOf));
  // `OPTIONS *` is the preflight's.
  const known = [...PUBLIC, ...FOR_EVERYBODY, ...JSON_RPC, ...OAUTH].filter((name) => !names.has(name));
  expect(known, 'named in this test, but not served').toEqual([]);
});

describe.each(closed)('$route', (route) => {
  test('refuses an unknown caller [ID-2, ID-19, ID-38, LIM-5]', async () => {
    for (const [what, bearer, code] of bearers) {
      const answer = await send(route, bearer, examples.get(nameOf(route)) ?? {});
      expect({ what, status: answer.status }).toEqual({ what, status: 401 });
      expectError(answer, 401, [code]);
      const secret = [bearer ?? ''].filter((text) => text.length > 20);
      for (const text of secret) expect(answer.text).not.toContain(text);
    }
  });
});

const named = closed.filter(({ path }) => path.includes(':'));

describe.each(named.filter((route) => !FOR_EVERYBODY.has(nameOf(route))))('$route', (route) => {
  test('gives nothing of another wallet away and changes nothing [ID-38]', async () => {
    const answer = await send(route, stranger.token, examples.get(nameOf(route)));
    const refusals = CONDITIONAL.has(nameOf(route)) ? [400] : [403, 404];
    expect(refusals, answer.text).toContain(answer.status);
    const codes = ['not_found', 'listing_not_found', 'credential_not_found'];
    expectError(answer, answer.status, answer.status === 400 ? ['invalid_request'] : codes);
    for (const value of [owner.token, owner.wallet.publicKey.toBase58()]) {
      expect(answer.text).not.toContain(value);
    }
  });
});

describe.each(named.filter((route) => FOR_EVERYBODY.has(nameOf(route))))('$route', (route) => {
  test('shows public data, or the caller’s own data, and no more [ID-38]', async () => {
    const body = route.method === 'GET' ? undefined : examples.get(nameOf(route));
    const answer = await send(route, stranger.token, body);
    expect(answer.status).toBe(200);
    expect(answer.text).not.toContain(owner.wallet.publicKey.toBase58());
    expect(answer.text).not.toMatch(/"valid":true|system_prompt|model_key/);
  });
});

describe('another wallet’s data', () => {
  test('still exists after all attempts of a stranger [ID-38]', async () => {
    const read = async (path: string) =>
      (await call(marketplace, 'GET', path, { token: owner.token })).status;
    expect(await read(`/v1/runs/${resources['run_id']}`)).toBe(200);
    expect(await read(`/v1/jobs/${resources['job_id']}`)).toBe(200);
    expect(await read(`/v1/files/${resources['file_id']}`)).toBe(200);
    const { body } = await call(marketplace, 'GET', '/v1/api-keys', { token: owner.token });
    const ids = (body['api_keys'] as { id: string }[]).map(({ id }) => id);
    expect(ids).toEqual([resources['key_id']]);
    const strangers = await call(marketplace, 'GET', '/v1/api-keys', { token: stranger.token });
    expect(strangers.body).toEqual({ api_keys: [] });
  });

  test.each([
    ['POST /v1/execute', { task: 'x' }, 'agent_id'],
    ['POST /v1/execute/stream', { task: 'x' }, 'agent_id'],
    ['POST /v1/transactions', { action: 'pause' }, 'listing_id'],
    ['POST /v1/transactions', { action: 'close' }, 'listing_id'],
    ['POST /v1/transactions', { action: 'withdraw' }, 'listing_id'],
    ['POST /v1/transactions', { action: 'update', price_lamports: 1_000_000 }, 'listing_id'],
    ['POST /v1/transactions', { action: 'publish' }, 'listing_id'],
  ])('is not reached by a body either: %s %j [ID-38]', async (route, body, field) => {
    const [method = '', path = ''] = route.split(' ');
    const answer = await send({ method, path }, stranger.token, {
      ...body,
      [field]: resources['listing_id'],
    });
    expect([403, 404]).toContain(answer.status);
    expectError(answer, answer.status, ['credential_not_found', 'listing_not_found']);
  });

  test('includes its signed transactions: no other wallet can submit them [ID-38]', async () => {
    const { body } = await call(marketplace, 'POST', '/v1/transactions', {
      token: owner.token,
      body: {
        action: 'rent',
        listing_id: marketplace.listing('subscription').id,
        duration_seconds: 2_592_000,
      },
    });
    const wire = Buffer.from(String(body['transaction']), 'base64');
    const signed = await keypairSigner(owner.wallet).signTransaction(wire);
    const route = { method: 'POST', path: '/v1/transactions/submit' };
    const answer = await send(route, stranger.token, { transaction: Buffer.from(signed).toString('base64') });
    expectError(answer, 400, ['invalid_request']);
  });
});

describe('a challenge', () => {
  test('that was used, in one way or the other, is worth nothing [ID-14]', async () => {
    const wallet = Keypair.generate();
    const address = wallet.publicKey.toBase58();
    const issued = await call(marketplace, 'GET', `/v1/auth/challenge?wallet=${address}`);
    const challenge = String(issued.body['challenge']);
    const signature = bs58.encode(nacl.sign.detached(Buffer.from(challenge), wallet.secretKey));
    const route = { method: 'POST', path: '/v1/auth/token' };
    const body = { wallet: address, challenge, signature };
    const answers = await Promise.all(Array.from({ length: 10 }, () => send(route, undefined, body)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    for (const answer of answers.filter(({ status }) => status !== 200)) {
      expectError(answer, 401, ['invalid_signature']);
    }
    // It works neither for another wallet, nor for making a key.
    const thief = Keypair.generate();
    const stolen = { ...body, wallet: thief.publicKey.toBase58() };
    expectError(await send(route, undefined, stolen), 401, ['invalid_signature']);
    const token = await login(marketplace, wallet);
    const keyed = await send({ method: 'POST', path: '/v1/api-keys' }, token, {
      label: 'x',
      challenge,
      signature,
    });
    expectError(keyed, 401, ['invalid_signature']);
  });
});

/** The sender of bodies: a stranger, or a wallet with a rental for a route that checks rentals first. */
const senderOf = (route: Route) => (ANY_BYTES.has(nameOf(route)) ? owner : stranger).token;

describe.each(withBody)('a body for $route', (route) => {
  test('that is too large is refused, and its sender hears it [ERR-21]', async () => {
    const bytes = TOO_LARGE_BYTES[nameOf(route)] ?? TOO_LARGE_BYTES['default'] ?? 0;
    const body = `{"task":"${'x'.repeat(bytes)}"}`;
    expectError(await send(route, senderOf(route), body), 413, ['invalid_request']);
  });

  test.each([
    [
      'a huge string in every field',
      (text: string) => text.replaceAll(/:(?:"[^"]*"|\d+(?=[,}]))/g, `:"${'x'.repeat(20_000)}"`),
    ],
    [
      'deep nesting in a field',
      (text: string) => text.replace(/^\{/, `{"deep":${'['.repeat(5000)}${']'.repeat(5000)},`),
    ],
    ['an unknown field', (text: string) => text.replace(/^\{/, '{"unknown_field":1,')],
    ['__proto__ as a key', (text: string) => text.replace(/^\{/, '{"__proto__":{"admin":true},')],
    [
      'constructor.prototype as a key',
      (text: string) => text.replace(/^\{/, '{"constructor":{"prototype":{}},'),
    ],
    ['invalid UTF-8', (text: string) => text.replace(/^\{/, '{"\u00ff":1,')],
    ['the wrong form', () => '[[]]'],
    ['nothing in it', () => ''],
  ])('with %s gets a clear answer and never a 5xx [ERR-21]', async (what, change) => {
    const text = change(JSON.stringify(examples.get(nameOf(route)) ?? { task: 'x' }));
    const response = await fetch(marketplace.dev.base_url + pathOf(route), {
      method: route.method,
      headers: { authorization: `Bearer ${senderOf(route)}`, 'content-type': 'application/json' },
      // As Latin-1, so that the one character beyond ASCII is a byte that is invalid in UTF-8.
      body: Buffer.from(text, 'latin1'),
    });
    const answer = { status: response.status, headers: response.headers, text: await response.text() };
    // The job judges the content of a manifest, and a file may hold anything.
    if (nameOf(route) === 'POST /v1/agents' && answer.status === 202) return;
    if (ANY_BYTES.has(nameOf(route)) && answer.status === 201) return;
    expect(answer.status, `${what}: ${answer.text}`).toBeGreaterThanOrEqual(400);
    expect(answer.status, `${what}: ${answer.text}`).toBeLessThan(500);
    // A route that checks the resource before the body, or has no text field, answers that it belongs to another wallet.
    const codes = [
      'invalid_request',
      'invalid_signature',
      'listing_not_found',
      'credential_not_found',
      'not_found',
    ];
    expectError(answer, answer.status, codes);
  });
});
