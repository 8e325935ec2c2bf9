import {
  Client,
  DpopSession,
  PrivateKeyJwtProvider,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';
import { Keypair } from '@solana/web3.js';
import { calculateJwkThumbprint, exportJWK, generateKeyPair, importJWK, SignJWT } from 'jose';
import * as oauth from 'oauth4webapi';
import { beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest';
import { call } from '../support/http.js';
import { attach, type Marketplace } from '../support/marketplace.js';
import { newTestApp, type OAuthAnswer, type TestApp } from '../support/oauth/app.js';
import { consentOverHttp } from '../support/oauth/consent.js';
import { assertionOf, jwkOf, logInWith } from '../support/oauth/program.js';
import { newProofKey, type ProofKey } from '../support/oauth/proof.js';
import { newParticipant, type Participant } from '../support/participant.js';

let marketplace: Marketplace;
let owner: Participant;
let key: ProofKey;
let thief: ProofKey;
beforeAll(async () => {
  marketplace = await attach(inject('stateDir'));
  [owner, key, thief] = [await newParticipant(marketplace), await newProofKey(), await newProofKey()];
});

const apiUrl = () => `${marketplace.dev.base_url}/v1`;
const tokenUrl = () => `${marketplace.dev.base_url}/oauth/token`;
const provedToken = async (by = key) => ({ dpop: await by.prove({ method: 'POST', url: tokenUrl() }) });

/** A token for the HTTP API, or another resource, that is bound to the key. */
async function boundToken(resource = apiUrl()): Promise<string> {
  const assertion = await assertionOf(marketplace, owner.wallet);
  const { body } = await logInWith(marketplace, assertion, { resource }, await provedToken());
  expect(body['token_type']).toBe('DPoP');
  return String(body['access_token']);
}

/** Reads the wallet's rentals with headers. */
async function read(headers: Record<string, string>, path = '/v1/credentials') {
  const answer = await call(marketplace, 'GET', path, { headers });
  return { status: answer.status, challenge: answer.headers.get('www-authenticate') ?? '' };
}

test('oauth4webapi gets a bound token in one call, and uses it at the HTTP API and at MCP [ID-49]', async () => {
  const insecure = { [oauth.allowInsecureRequests]: true };
  const issuer = new URL(marketplace.dev.base_url);
  const discovered = await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...insecure });
  const server = await oauth.processDiscoveryResponse(issuer, discovered);
  expect(server.dpop_signing_alg_values_supported).toEqual(['ES256', 'EdDSA', 'Ed25519']);
  expect(server.grant_types_supported).toContain('client_credentials');
  expect(server.token_endpoint_auth_methods_supported).toEqual(['none', 'private_key_jwt']);
  expect(server.token_endpoint_auth_signing_alg_values_supported).toEqual(['EdDSA', 'Ed25519']);
  const client: oauth.Client = { client_id: owner.signer.address };
  const walletKey = (await importJWK(jwkOf(owner.wallet), 'EdDSA')) as oauth.CryptoKey;
  for (const alg of ['ES256', 'Ed25519']) {
    const DPoP = oauth.DPoP(client, await oauth.generateKeyPair(alg));
    const use = async (method: string, resource: string, path: string, body?: string) => {
      const answer = await oauth.clientCredentialsGrantRequest(
        server,
        client,
        oauth.PrivateKeyJwt(walletKey),
        { scope: 'run', resource },
        { DPoP, ...insecure },
      );
      const tokens = await oauth.processClientCredentialsResponse(server, client, answer);
      expect(tokens).toMatchObject({ token_type: 'dpop', scope: 'run', expires_in: 900 });
      const headers = new Headers({
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      });
      const url = new URL(path, issuer);
      return oauth.protectedResourceRequest(tokens.access_token, method, url, headers, body, {
        DPoP,
        ...insecure,
      });
    };
    expect((await use('GET', apiUrl(), '/v1/credentials?limit=1')).status).toBe(200);
    const listed = await use(
      'POST',
      marketplace.dev.mcp_url,
      '/mcp',
      '{"jsonrpc":"2.0","id":1,"method":"tools/list"}',
    );
    expect([listed.status, await listed.text()]).toEqual([
      200,
      expect.stringContaining('list_rentals') as string,
    ]);
  }
});

test('the official SDK of MCP logs in with a bound token, and calls tools [ID-48, ID-49]', async () => {
  const wallet = Keypair.generate();
  const session = await DpopSession.create();
  const provider = Object.assign(
    new PrivateKeyJwtProvider({
      clientId: wallet.publicKey.toBase58(),
      privateKey: jwkOf(wallet),
      algorithm: 'EdDSA',
      expectedIssuer: marketplace.dev.base_url,
    }),
    { dpop: () => session },
  );
  const client = new Client({ name: 'a-bound-program', version: '1.0.0' });
  onTestFinished(() => client.close());
  const transport = new StreamableHTTPClientTransport(new URL(marketplace.dev.mcp_url), {
    authProvider: provider,
  });
  await client.connect(transport);
  for (const name of ['list_rentals', 'search_listings']) {
    expect(await client.callTool({ name, arguments: {} })).not.toMatchObject({ isError: true });
  }
  const tokens = provider.tokens();
  expect(tokens?.token_type).toBe('DPoP');
  // The token alone is worth nothing.
  const stolen = await call(marketplace, 'POST', '/mcp', { token: tokens?.access_token, body: {} });
  expect(stolen.status).toBe(401);
  expect(stolen.headers.get('www-authenticate')).toMatch(
    /^DPoP error="invalid_token", .*resource_metadata="/,
  );
});

describe('a bound token', () => {
  test('is refused as a bearer token, and without a proof [ID-49]', async () => {
    const token = await boundToken();
    const url = `${apiUrl()}/credentials`;
    const dpop = await key.prove({ method: 'GET', url, token });
    const asBearer = await read({ authorization: `Bearer ${token}`, dpop });
    expect(asBearer).toEqual({
      status: 401,
      challenge: expect.stringMatching(/^DPoP error="invalid_token"/) as string,
    });
    const bare = await read({ authorization: `DPoP ${token}` });
    expect(bare).toEqual({
      status: 401,
      challenge: expect.stringMatching(
        /^DPoP error="invalid_dpop_proof", error_description=".*missing/,
      ) as string,
    });
    expect((await read({ authorization: `DPoP ${token}`, dpop })).status).toBe(200);
  });

  const now = () => Math.floor(Date.now() / 1000);
  test.each([
    ['of another key', () => ({ by: thief })],
    ['for another token', () => ({ changes: { ath: 'x'.repeat(43) } })],
    ['for no token', () => ({ changes: { ath: undefined } })],
    ['for another method', () => ({ changes: { htm: 'POST' } })],
    ['for another path', () => ({ changes: { htu: `${apiUrl()}/files` } })],
    ['for another service', () => ({ changes: { htu: 'https://elsewhere.example/v1/credentials' } })],
    ['for no address', () => ({ changes: { htu: '/v1/credentials' } })],
    ['that is old', () => ({ changes: { iat: now() - 120 } })],
    ['from the future', () => ({ changes: { iat: now() + 60 } })],
    ['without a time', () => ({ changes: { iat: undefined } })],
    ['without a name', () => ({ changes: { jti: undefined } })],
    ['with an endless name', () => ({ changes: { jti: 'x'.repeat(257) } })],
    ['that is too large', () => ({ changes: { more: 'x'.repeat(4_096) } })],
    ['of another type', () => ({ header: { typ: 'JWT' } })],
    ['that names no key', () => ({ header: { jwk: undefined } })],
  ] as [string, () => { by?: ProofKey; changes?: object; header?: object }][])(
    'is refused with a proof %s [ID-49]',
    async (_what, wrong) => {
      const token = await boundToken();
      const { by = key, changes, header } = wrong();
      const dpop = await by.prove(
        { method: 'GET', url: `${apiUrl()}/credentials`, token },
        { ...changes },
        { ...header },
      );
      const refused = await read({ authorization: `DPoP ${token}`, dpop });
      expect(refused.status).toBe(401);
      expect(refused.challenge).toMatch(/^DPoP error="invalid_dpop_proof", error_description="[^"]+"$/);
    },
  );

  test('takes no proof by a shared secret, with a private key, or of a broken signature [ID-49]', async () => {
    const token = await boundToken();
    const url = `${apiUrl()}/credentials`;
    const good = await key.prove({ method: 'GET', url, token });
    const claims = JSON.parse(Buffer.from(good.split('.')[1] ?? '', 'base64url').toString()) as object;
    const { privateKey } = await generateKeyPair('ES256', { extractable: true });
    const secret = Buffer.alloc(32, 1);
    const octets = { kty: 'oct', k: secret.toString('base64url') };
    const rsa = await generateKeyPair('RS256');
    const sign = async (alg: string, jwk: object, by: Parameters<SignJWT['sign']>[0]) =>
      new SignJWT({ ...claims }).setProtectedHeader({ typ: 'dpop+jwt', alg, jwk }).sign(by);
    for (const dpop of [
      await sign('HS256', octets, secret),
      await sign('ES256', await exportJWK(privateKey), privateKey),
      await sign('RS256', await exportJWK(rsa.publicKey), rsa.privateKey),
      `${good.slice(0, -8)}AAAAAAAA`,
      `${good}, ${good}`,
      'x',
      '',
    ]) {
      const refused = await read({ authorization: `DPoP ${token}`, dpop });
      expect([dpop, refused.status]).toEqual([dpop, 401]);
      expect(refused.challenge).toMatch(/^DPoP error="invalid_dpop_proof"/);
    }
    expect((await read({ authorization: `DPoP ${token}`, dpop: good })).status).toBe(200);
  });

  test('takes a proof once, however many requests have it at once [ID-49]', async () => {
    const token = await boundToken();
    const dpop = await key.prove({ method: 'GET', url: `${apiUrl()}/credentials`, token });
    const headers = { authorization: `DPoP ${token}`, dpop };
    const answers = await Promise.all(Array.from({ length: 5 }, () => read(headers)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    const again = await read(headers);
    expect(again.challenge).toMatch(/^DPoP error="invalid_dpop_proof", .*used before/);
    // The query is no part of the address.
    const next = await key.prove({ method: 'GET', url: `${apiUrl()}/credentials?x=1#y`, token });
    expect((await read({ ...headers, dpop: next }, '/v1/credentials?limit=1')).status).toBe(200);
  });

  test('needs a proof at MCP and A2A too, for each request [ID-49]', async () => {
    const token = await boundToken(marketplace.dev.mcp_url);
    for (const path of ['/mcp', '/a2a']) {
      const url = marketplace.dev.base_url + path;
      const body = {
        jsonrpc: '2.0',
        id: 1,
        method: path === '/mcp' ? 'tools/list' : 'ListTasks',
        params: {},
      };
      const send = async (dpop?: string) =>
        call(marketplace, 'POST', path, {
          body,
          headers: {
            authorization: `DPoP ${token}`,
            accept: 'application/json, text/event-stream',
            'a2a-version': '1.0',
            ...(dpop === undefined ? {} : { dpop }),
          },
        }).catch(() => undefined);
      const bare = await send();
      expect(bare?.status).toBe(401);
      expect(bare?.headers.get('www-authenticate')).toMatch(
        /^DPoP error="invalid_dpop_proof", .*resource_metadata="/,
      );
      const dpop = await key.prove({ method: 'POST', url, token });
      // MCP answers with an event stream, which is no JSON.
      expect((await send(dpop))?.status ?? 200).toBe(200);
      expect((await send(dpop))?.status).toBe(401);
    }
  });
});

test('a key or token that is not bound is no bound token, with a proof or without [ID-49]', async () => {
  const assertion = await assertionOf(marketplace, owner.wallet);
  const { body } = await logInWith(marketplace, assertion, { resource: apiUrl() });
  expect(body['token_type']).toBe('Bearer');
  const plain = String(body['access_token']);
  for (const token of [plain, marketplace.apiKey, owner.token]) {
    const dpop = await key.prove({ method: 'GET', url: `${apiUrl()}/credentials`, token });
    const refused = await read({ authorization: `DPoP ${token}`, dpop });
    expect([refused.status, refused.challenge]).toEqual([
      401,
      expect.stringMatching(/^DPoP error="invalid_token"/),
    ]);
    expect((await read({ authorization: `Bearer ${token}` })).status).toBe(200);
  }
  // As ever.
  expect(await read({ authorization: 'Bearer x' })).toEqual({ status: 401, challenge: 'Bearer' });
});

describe('at the token endpoint', () => {
  const expectRefused = ({ status, body }: OAuthAnswer, error: string) =>
    expect([status, body['error']]).toEqual([400, error]);
  let app: TestApp;
  beforeAll(async () => {
    app = await newTestApp(marketplace);
  });

  test('a wrong proof is refused, and uses up neither code nor assertion [ID-49]', async () => {
    const request = { method: 'POST', url: tokenUrl() };
    const used = await key.prove(request);
    const code = await app.connect(owner);
    const assertion = await assertionOf(marketplace, owner.wallet);
    expect((await logInWith(marketplace, assertion, {}, { dpop: used })).status).toBe(200);
    const next = await assertionOf(marketplace, owner.wallet);
    for (const dpop of [
      used,
      await key.prove(request, { htu: marketplace.dev.mcp_url }),
      await key.prove(request, { htm: 'GET' }),
      await key.prove(request, { iat: 1 }),
      'x',
    ]) {
      expectRefused(await app.redeem(code, {}, { dpop }), 'invalid_dpop_proof');
      expectRefused(await logInWith(marketplace, next, {}, { dpop }), 'invalid_dpop_proof');
    }
    expect((await app.redeem(code)).body['token_type']).toBe('Bearer');
    expect((await logInWith(marketplace, next)).status).toBe(200);
  });

  test('the refresh token of an app is bound too, and a thief without the key ends nothing [ID-44, ID-49]', async () => {
    const first = await app.redeem(await app.connect(owner), {}, await provedToken());
    expect(first.body).toMatchObject({ token_type: 'DPoP', expires_in: 900, scope: 'run rent' });
    const token = String(first.body['refresh_token']);
    expectRefused(await app.refresh(token), 'invalid_grant');
    expectRefused(await app.refresh(token, {}, await provedToken(thief)), 'invalid_grant');
    const second = await app.refresh(token, {}, await provedToken());
    expect(second.body['token_type']).toBe('DPoP');
    // A lost answer: the same tokens, by another proof of the key.
    expect((await app.refresh(token, {}, await provedToken())).body).toMatchObject({
      refresh_token: second.body['refresh_token'],
    });
    const access = String(second.body['access_token']);
    const dpop = await key.prove({ method: 'POST', url: marketplace.dev.mcp_url, token: access });
    const headers = { authorization: `DPoP ${access}`, dpop };
    expect((await call(marketplace, 'POST', '/mcp', { headers, body: {} })).status).not.toBe(401);
    expect((await call(marketplace, 'POST', '/mcp', { token: access, body: {} })).status).toBe(401);
  });

  test('an app that begins to prove a key gets tokens of that key alone [ID-49]', async () => {
    const { refresh_token: token } = await app.logIn(owner);
    const [plain, mine, other] = await Promise.all([
      app.refresh(token),
      app.refresh(token, {}, await provedToken()),
      app.refresh(token, {}, await provedToken(thief)),
    ]);
    const types = [plain, mine, other].map(({ body }) => body['token_type']);
    expect(types).toEqual(['Bearer', 'DPoP', 'DPoP']);
    expect(new Set([plain, mine, other].map(({ body }) => body['access_token']))).toHaveProperty('size', 3);
  });

  test('a code of a request with dpop_jkt is for that key alone [ID-49]', async () => {
    const { privateKey, publicKey } = await generateKeyPair('ES256');
    const jwk = await exportJWK(publicKey);
    const jkt = await calculateJwkThumbprint(jwk);
    const next = await consentOverHttp(app.authorizationUrl({ dpop_jkt: jkt }), owner);
    const code = next.searchParams.get('code') ?? '';
    expectRefused(await app.redeem(code), 'invalid_grant');
    expectRefused(await app.redeem(code, {}, await provedToken(thief)), 'invalid_grant');
    const dpop = await new SignJWT({ htm: 'POST', htu: tokenUrl(), jti: 'a-name' })
      .setIssuedAt()
      .setProtectedHeader({ typ: 'dpop+jwt', alg: 'ES256', jwk })
      .sign(privateKey);
    expect((await app.redeem(code, {}, { dpop })).body['token_type']).toBe('DPoP');
    const wrong = await fetch(app.authorizationUrl({ dpop_jkt: 'short' }), {
      headers: { accept: 'text/html' },
    });
    expect([wrong.status, await wrong.text()]).toEqual([400, expect.stringContaining('dpop_jkt')]);
  });
});
