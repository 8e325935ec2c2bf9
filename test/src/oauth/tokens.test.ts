import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { createApiKey } from '@agent-rental/sdk/solana';
import { beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest';
import { call } from '../support/http.js';
import { attach, type Marketplace } from '../support/marketplace.js';
import { newTestApp, REDIRECT_URI, type OAuthAnswer, type TestApp } from '../support/oauth/app.js';
import { consentOverHttp } from '../support/oauth/consent.js';
import { newParticipant, type Participant } from '../support/participant.js';
import { rentOverHttp } from '../support/renter.js';

let marketplace: Marketplace;
let person: Participant;
let app: TestApp;
beforeAll(async () => {
  marketplace = await attach(inject('stateDir'));
  [person, app] = [await newParticipant(marketplace), await newTestApp(marketplace)];
});

/** The status of `/mcp` for a bearer. */
async function statusAtMcp(bearer: string): Promise<number> {
  const response = await fetch(marketplace.dev.mcp_url, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${bearer}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }),
  });
  await response.text();
  return response.status === 401 ? 401 : 200;
}

/** A session of MCP with a bearer. */
async function newSession(bearer: string) {
  const client = new Client({ name: 'an-app', version: '1.0.0' });
  await client.connect(
    new StreamableHTTPClientTransport(new URL(marketplace.dev.mcp_url), {
      requestInit: { headers: { authorization: `Bearer ${bearer}` } },
    }),
  );
  onTestFinished(() => client.close());
  return (name: string, args = {}) => client.callTool({ name, arguments: args });
}

const expectRefused = ({ status, headers, body }: OAuthAnswer, error: string, code = 400) => {
  expect({ status, error: body['error'] }).toEqual({ status: code, error });
  expect(String(body['error_description']).length).toBeGreaterThan(10);
  expect(headers.get('cache-control')).toBe('no-store');
};

describe('an access token', () => {
  test('works at MCP and A2A alone, and is returned with its scopes [ID-41]', async () => {
    const answer = await app.redeem(await app.connect(person));
    expect(answer.status).toBe(200);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(answer.body).toEqual({
      access_token: expect.stringMatching(/^ara_[\w-]{43}$/) as string,
      token_type: 'Bearer',
      expires_in: 900,
      refresh_token: expect.stringMatching(/^arr_[\w-]{43}$/) as string,
      scope: 'run rent',
    });
    const token = String(answer.body['access_token']);
    expect(await statusAtMcp(token)).toBe(200);
    const listed = { jsonrpc: '2.0', id: 1, method: 'ListTasks', params: {} };
    const headers = { 'a2a-version': '1.0' };
    const tasks = await call(marketplace, 'POST', '/a2a', { token, headers, body: listed });
    expect(tasks.body).toMatchObject({ result: { totalSize: 0 } });
    for (const path of ['/v1/credentials', '/v1/api-keys', '/v1/listings', '/v1/tools']) {
      const refused = await call(marketplace, 'GET', path, { token });
      expect([path, refused.status]).toEqual([path, 401]);
      expect(JSON.stringify(refused.body)).toContain('for MCP and A2A alone');
    }
    expect(await statusAtMcp(String(answer.body['refresh_token']))).toBe(401);
    // As before: the other two kinds of bearers.
    const { key } = await createApiKey(person.client, person.signer, 'beside');
    expect(await statusAtMcp(key)).toBe(200);
    expect(await statusAtMcp(person.token)).toBe(200);
  });

  test('is bound by the scopes and the policy that its person signed [ID-41]', async () => {
    await rentOverHttp(marketplace, person, 'per_query');
    const request = await marketplace.request('per_query');
    const tight = await app.logIn(person, { scopes: ['run'], policy: { max_run_lamports: 0 } });
    expect(tight.scope).toBe('run');
    const useTight = await newSession(tight.access_token);
    const refusedRun = await useTight('run_agent', request);
    expect(refusedRun.isError).toBe(true);
    expect(JSON.stringify(refusedRun)).toContain('spending policy');
    const token = (await app.logIn(person, { scopes: ['run'] })).access_token;
    const use = await newSession(token);
    expect(await use('run_agent', request)).not.toMatchObject({ isError: true });
  });

  test('is refused at another service, and after a change [ID-41]', async () => {
    const { access_token: token } = await app.logIn(person);
    for (const wrong of [
      `${token.slice(0, -1)}_`,
      token.slice(0, -1),
      `${token}A`,
      'ara_',
      `ara_${'x'.repeat(43)}`,
    ]) {
      expect([wrong, await statusAtMcp(wrong)]).toEqual([wrong, 401]);
    }
    const refused = await fetch(marketplace.dev.mcp_url, {
      method: 'POST',
      headers: { authorization: 'Bearer ara_x' },
    });
    expect(refused.headers.get('www-authenticate')).toContain(
      `resource_metadata="${marketplace.dev.base_url}/.well-known/oauth-protected-resource/mcp"`,
    );
  });
});

describe('a code', () => {
  test.each([
    ['another PKCE verifier', { code_verifier: 'x'.repeat(43) }, 'invalid_grant'],
    ['no PKCE verifier', { code_verifier: null }, 'invalid_request'],
    ['another redirect URI', { redirect_uri: `${REDIRECT_URI}/` }, 'invalid_grant'],
    ['no redirect URI', { redirect_uri: null }, 'invalid_request'],
    ['a foreign resource', { resource: 'https://elsewhere.example/mcp' }, 'invalid_target'],
    ['the origin as resource', { resource: 'ORIGIN' }, 'invalid_target'],
    ['another client', { client_id: 'https://elsewhere.example/client.json' }, 'invalid_grant'],
    ['no client', { client_id: null }, 'invalid_request'],
    ['another grant type', { grant_type: 'password' }, 'unsupported_grant_type'],
  ] as [string, Record<string, string | null>, string][])(
    'with %s gives no tokens, and still works for its own client [ID-44]',
    async (_what, changes, error) => {
      const code = await app.connect(person);
      const given = Object.fromEntries(
        Object.entries(changes).map(([name, value]) => [
          name,
          value === 'ORIGIN' ? marketplace.dev.base_url : value,
        ]),
      );
      expectRefused(await app.redeem(code, given), error);
      expect((await app.redeem(code)).status).toBe(200);
    },
  );

  test('without a resource is for MCP: there is no other [ID-44]', async () => {
    expect((await app.redeem(await app.connect(person), { resource: null })).status).toBe(200);
  });

  test('that is redeemed twice ends the app that it connected [ID-44]', async () => {
    const code = await app.connect(person);
    const { body } = await app.redeem(code);
    expect(await statusAtMcp(String(body['access_token']))).toBe(200);
    expectRefused(await app.redeem(code), 'invalid_grant');
    expect(await statusAtMcp(String(body['access_token']))).toBe(401);
    expectRefused(await app.refresh(String(body['refresh_token'])), 'invalid_grant');
  });

  test('counts once, however many redeem it at once [ID-44]', async () => {
    const code = await app.connect(person);
    const answers = await Promise.all(Array.from({ length: 10 }, () => app.redeem(code)));
    const good = answers.filter(({ status }) => status === 200);
    expect(good).toHaveLength(1);
    expect(await statusAtMcp(String(good[0]?.body['access_token']))).toBe(401);
  });

  test('of one client is refused from another client [ID-44]', async () => {
    const other = await newTestApp(marketplace, { client_name: 'Another app' });
    const code = await app.connect(person);
    expectRefused(await other.redeem(code), 'invalid_grant');
    expectRefused(await other.redeem(code, { code_verifier: app.verifier }), 'invalid_grant');
    expect((await app.redeem(code)).status).toBe(200);
  });
});

describe('a refresh token', () => {
  test('is replaced at each use, and gives the granted scopes [ID-44]', async () => {
    const first = await app.logIn(person, { scopes: ['run'] });
    const second = await app.refresh(first.refresh_token);
    expect(second.status).toBe(200);
    expect(second.body['scope']).toBe('run');
    expect(second.body['refresh_token']).not.toBe(first.refresh_token);
    expect(await statusAtMcp(String(second.body['access_token']))).toBe(200);
    expectRefused(
      await app.refresh(String(second.body['refresh_token']), { scope: 'run rent publish' }),
      'invalid_scope',
    );
    expect((await app.refresh(String(second.body['refresh_token']), { scope: 'run' })).status).toBe(200);
  });

  test('used by ten processes at once gives all of them one pair, which works [ID-44]', async () => {
    const { refresh_token: token } = await app.logIn(person);
    const answers = await Promise.all(Array.from({ length: 10 }, () => app.refresh(token)));
    const [given = '', ...others] = new Set(
      answers.map(({ body }) => `${String(body['access_token'])} ${String(body['refresh_token'])}`),
    );
    expect(others).toEqual([]);
    const [access = '', refresh = ''] = given.split(' ');
    expect(await statusAtMcp(access)).toBe(200);
    expect((await app.refresh(refresh)).status).toBe(200);
  });

  test('of one client is refused from another, and that ends nothing [ID-44]', async () => {
    const other = await newTestApp(marketplace, { client_name: 'Another app' });
    const { refresh_token: token } = await app.logIn(person);
    expectRefused(await other.refresh(token), 'invalid_grant');
    expectRefused(await app.refresh(token, { resource: 'https://elsewhere.example/mcp' }), 'invalid_target');
    expect((await app.refresh(token)).status).toBe(200);
  });
});

describe('an app is disconnected', () => {
  test('by its refresh token, with all its tokens [ID-44]', async () => {
    const tokens = await app.logIn(person);
    expect((await app.revoke(tokens.refresh_token)).status).toBe(200);
    expect(await statusAtMcp(tokens.access_token)).toBe(401);
    expectRefused(await app.refresh(tokens.refresh_token), 'invalid_grant');
  });

  test('not by an access token, which alone ends [ID-44]', async () => {
    const tokens = await app.logIn(person);
    expect((await app.revoke(tokens.access_token)).status).toBe(200);
    expect(await statusAtMcp(tokens.access_token)).toBe(401);
    expect((await app.refresh(tokens.refresh_token)).status).toBe(200);
  });

  test('not by another client, nor by an invalid token [ID-44]', async () => {
    const tokens = await app.logIn(person);
    const other = await newTestApp(marketplace, { client_name: 'Another app' });
    expectRefused(await other.revoke(tokens.refresh_token), 'invalid_client', 401);
    expect((await other.revoke('arr_nothing')).status).toBe(200);
    expect(await statusAtMcp(tokens.access_token)).toBe(200);
  });

  test('by its wallet, at once, and by no other wallet [ID-44]', async () => {
    const tokens = await app.logIn(person);
    const { api_keys: all } = await person.client.listApiKeys();
    const [newest] = all;
    expect(newest).toMatchObject({ label: 'A test app', app: { redirect_host: 'app.example' } });
    const stranger = await newParticipant(marketplace);
    await expect(stranger.client.revokeApiKey(newest?.id ?? '')).rejects.toMatchObject({ code: 'not_found' });
    expect(await statusAtMcp(tokens.access_token)).toBe(200);
    await person.client.revokeApiKey(newest?.id ?? '');
    expect(await statusAtMcp(tokens.access_token)).toBe(401);
    expectRefused(await app.refresh(tokens.refresh_token), 'invalid_grant');
  });
});

test('the metadata names the endpoints, by the name that the client called the service [ID-41]', async () => {
  for (const base of [marketplace.dev.base_url, marketplace.dev.base_url.replace('127.0.0.1', 'localhost')]) {
    const read = async (path: string) =>
      (await fetch(base + path)).json() as Promise<Record<string, unknown>>;
    const server = await read('/.well-known/oauth-authorization-server');
    expect(server).toMatchObject({
      issuer: base,
      code_challenge_methods_supported: ['S256'],
      authorization_response_iss_parameter_supported: true,
      client_id_metadata_document_supported: true,
    });
    for (const path of [
      '/.well-known/oauth-protected-resource',
      '/.well-known/oauth-protected-resource/mcp',
    ]) {
      expect(await read(path)).toMatchObject({ resource: `${base}/mcp`, authorization_servers: [base] });
    }
  }
  const poisoned = await fetch(`${marketplace.dev.base_url}/.well-known/oauth-authorization-server`, {
    headers: { 'x-forwarded-host': 'evil.example', forwarded: 'host=evil.example' },
  });
  expect(await poisoned.text()).not.toContain('evil.example');
});

test('the answer names its issuer and the state, beside the parameters in the redirect URI [ID-47]', async () => {
  const uri = 'https://app.example/callback?tenant=7';
  const other = await newTestApp(marketplace, { redirect_uris: [uri] });
  const next = await consentOverHttp(other.authorizationUrl({ redirect_uri: uri }), person);
  expect(next.href.startsWith(`${uri}&`)).toBe(true);
  expect(Object.fromEntries(next.searchParams)).toMatchObject({
    tenant: '7',
    state: 'a-state',
    iss: marketplace.dev.base_url,
  });
});
