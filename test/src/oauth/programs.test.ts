import { randomUUID } from 'node:crypto';
import {
  Client as ClientV2,
  PrivateKeyJwtProvider as ProviderV2,
  StreamableHTTPClientTransport as HttpV2,
} from '@modelcontextprotocol/client';
import { PrivateKeyJwtProvider as ProviderV1 } from '@modelcontextprotocol/sdk/client/auth-extensions.js';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { Keypair, PublicKey } from '@solana/web3.js';
import { SignJWT, UnsecuredJWT } from 'jose';
import { beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest';
import { call } from '../support/http.js';
import { attach, type Marketplace } from '../support/marketplace.js';
import { newTestApp, type OAuthAnswer } from '../support/oauth/app.js';
import { ASSERTION_TYPE, assertionOf, jwkOf, logInWith } from '../support/oauth/program.js';
import { newParticipant, type Participant } from '../support/participant.js';
import { rentOverHttp } from '../support/renter.js';

const ABOUT = { name: 'a-program-without-a-person', version: '1.0.0' };

let marketplace: Marketplace;
let owner: Participant;
beforeAll(async () => {
  marketplace = await attach(inject('stateDir'));
  owner = await newParticipant(marketplace);
});

const apiUrl = () => `${marketplace.dev.base_url}/v1`;
const tokenOf = ({ body }: OAuthAnswer) => String(body['access_token']);

/** A client of the official SDK, of either version, that has the address of MCP and a wallet's key alone. */
function newClient(version: 'v1' | 'v2', wallet: Keypair, counting: typeof fetch) {
  const url = new URL(marketplace.dev.mcp_url);
  const options = {
    clientId: wallet.publicKey.toBase58(),
    privateKey: jwkOf(wallet),
    algorithm: 'EdDSA',
    expectedIssuer: marketplace.dev.base_url,
  };
  if (version === 'v1') {
    const client = new ClientV1(ABOUT);
    const transport = new HttpV1(url, { authProvider: new ProviderV1(options), fetch: counting });
    return {
      connect: () => client.connect(transport),
      call: (name: string) => client.callTool({ name, arguments: {} }),
      close: () => client.close(),
    };
  }
  const client = new ClientV2(ABOUT);
  return {
    connect: () =>
      client.connect(new HttpV2(url, { authProvider: new ProviderV2(options), fetch: counting })),
    call: (name: string) => client.callTool({ name, arguments: {} }),
    close: () => client.close(),
  };
}

describe('a program with the key of a wallet', () => {
  test.each(['v1', 'v2'] as const)(
    'logs in by the official SDK %s with one call, and calls a tool [ID-48]',
    async (version) => {
      const wallet = Keypair.generate();
      const posted: string[] = [];
      const client = newClient(version, wallet, (input, init) => {
        if (init?.method === 'POST') posted.push(new Request(input).url);
        return fetch(input, init);
      });
      onTestFinished(() => client.close());
      await client.connect();
      expect(await client.call('list_rentals')).not.toMatchObject({ isError: true });
      expect(posted.filter((url) => url !== marketplace.dev.mcp_url)).toEqual([
        `${marketplace.dev.base_url}/oauth/token`,
      ]);
    },
  );

  test('gets a token without a refresh token, of the wallet’s own app, which all its programs share [ID-48]', async () => {
    const wallet = owner.signer.address;
    const answer = await logInWith(marketplace, await assertionOf(marketplace, owner.wallet));
    expect(answer.status).toBe(200);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(answer.body).toEqual({
      access_token: expect.stringMatching(/^ara_[\w-]{43}$/) as string,
      token_type: 'Bearer',
      expires_in: 900,
      scope: 'run rent',
    });
    await logInWith(marketplace, await assertionOf(marketplace, owner.wallet), { client_id: wallet });
    expect((await owner.client.listApiKeys()).api_keys).toMatchObject([
      { scopes: ['run', 'rent'], policy: null, app: { client: wallet, redirect_host: 'the wallet itself' } },
    ]);
  });

  test('names the token endpoint as audience, or lives for five minutes, as some clients do [ID-48]', async () => {
    const exp = Math.floor(Date.now() / 1000) + 300;
    const url = `${marketplace.dev.base_url}/oauth/token`;
    for (const changes of [{ aud: url }, { aud: [marketplace.dev.base_url] }, { exp }, { iat: undefined }]) {
      const answer = await logInWith(marketplace, await assertionOf(marketplace, owner.wallet, changes));
      expect([changes, answer.status]).toEqual([changes, 200]);
    }
  });

  test('has the scopes that it asked for, and never more than an app [ID-48, ID-50]', async () => {
    const ask = async (scope: string) =>
      logInWith(marketplace, await assertionOf(marketplace, owner.wallet), { scope, resource: apiUrl() });
    const run = await ask('run');
    expect(run.body['scope']).toBe('run');
    const transaction = { action: 'rent', listing_id: marketplace.listing('one_time').id };
    const refused = await call(marketplace, 'POST', '/v1/transactions', {
      token: tokenOf(run),
      body: transaction,
    });
    expect(refused.body).toMatchObject({ error: { status: 403, required_scopes: ['rent'] } });
    for (const scope of ['publish', 'run publish', 'offline_access']) {
      const answer = await ask(scope);
      expect([scope, answer.status, answer.body['error']]).toEqual([scope, 400, 'invalid_scope']);
    }
  });

  test('has a token for MCP, or for the HTTP API, and manages no keys [ID-48]', async () => {
    const ask = async (resource: string) =>
      logInWith(marketplace, await assertionOf(marketplace, owner.wallet), { resource });
    const forApi = tokenOf(await ask(apiUrl()));
    const credentials = await call(marketplace, 'GET', '/v1/credentials', { token: forApi });
    expect(credentials.status).toBe(200);
    expect((await call(marketplace, 'GET', '/v1/api-keys', { token: forApi })).status).toBe(401);
    const atMcp = await call(marketplace, 'POST', '/mcp', { token: forApi, body: {} });
    expect([atMcp.status, JSON.stringify(atMcp.body)]).toEqual([
      401,
      expect.stringContaining('for the HTTP API alone') as string,
    ]);
    const forMcp = tokenOf(await ask(marketplace.dev.mcp_url));
    const atApi = await call(marketplace, 'GET', '/v1/credentials', { token: forMcp });
    expect([atApi.status, JSON.stringify(atApi.body)]).toEqual([
      401,
      expect.stringContaining('for MCP and A2A alone') as string,
    ]);
    for (const resource of ['https://elsewhere.example/mcp', marketplace.dev.base_url]) {
      expect((await ask(resource)).body['error']).toBe('invalid_target');
    }
  });

  test('reads with a later token the run of an earlier one, until the owner disconnects it [ID-48]', async () => {
    const renter = await newParticipant(marketplace);
    await rentOverHttp(marketplace, renter, 'one_time');
    const logIn = async () =>
      tokenOf(
        await logInWith(marketplace, await assertionOf(marketplace, renter.wallet), { resource: apiUrl() }),
      );
    const first = await logIn();
    const run = await call(marketplace, 'POST', '/v1/execute', {
      token: first,
      body: await marketplace.request('one_time'),
    });
    expect(run.status).toBe(200);
    const path = `/v1/runs/${String(run.body['run_id'])}`;
    const second = await logIn();
    expect((await call(marketplace, 'GET', path, { token: second })).status).toBe(200);
    const [app] = (await renter.client.listApiKeys()).api_keys;
    await renter.client.revokeApiKey(app?.id ?? '');
    for (const token of [first, second]) {
      expect((await call(marketplace, 'GET', path, { token })).status).toBe(401);
    }
    expect((await call(marketplace, 'GET', path, { token: await logIn() })).status).toBe(404);
  });
});

describe('an assertion', () => {
  const now = () => Math.floor(Date.now() / 1000);
  const other = Keypair.generate();

  test.each([
    ['for another service', () => ({ aud: 'https://elsewhere.example' })],
    ['for another service too', () => ({ aud: [marketplace.dev.base_url, 'https://elsewhere.example'] })],
    ['for MCP itself', () => ({ aud: marketplace.dev.mcp_url })],
    ['for no service', () => ({ aud: undefined })],
    ['that has expired', () => ({ iat: now() - 200, exp: now() - 60 })],
    ['without an end', () => ({ exp: undefined })],
    ['for ten minutes', () => ({ exp: now() + 600 })],
    ['for ten minutes, of unknown age', () => ({ iat: undefined, exp: now() + 600 })],
    ['of a long life that is nearly over', () => ({ iat: now() - 600, exp: now() + 30 })],
    ['from the future', () => ({ iat: now() + 120, exp: now() + 180 })],
    ['that does not count yet', () => ({ nbf: now() + 120 })],
    ['without a jti', () => ({ jti: undefined })],
    ['with an endless jti', () => ({ jti: 'x'.repeat(257) })],
    ['that another wallet issued', () => ({ iss: other.publicKey.toBase58() })],
    ['of another wallet’s key', () => ({ iss: other.publicKey.toBase58(), sub: other.publicKey.toBase58() })],
    ['of no wallet', () => ({ iss: 'client', sub: 'client' })],
    ['without a subject', () => ({ sub: undefined })],
  ])('%s is refused [ID-48]', async (_what, changes) => {
    const answer = await logInWith(marketplace, await assertionOf(marketplace, owner.wallet, changes()));
    expectRefused(answer);
  });

  test('counts once, however many send it at once, and also for another scope [ID-48]', async () => {
    const assertion = await assertionOf(marketplace, owner.wallet);
    const answers = await Promise.all(Array.from({ length: 5 }, () => logInWith(marketplace, assertion)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    const again = await logInWith(marketplace, assertion, { scope: 'run' });
    expectRefused(again);
    expect(again.body['error_description']).toContain('was used before');
    // Its name counts, and not its bytes.
    const jti = randomUUID();
    const twice = [0, 1].map((earlier) =>
      assertionOf(marketplace, owner.wallet, { jti, iat: now() - earlier }),
    );
    expect((await logInWith(marketplace, (await twice[0]) ?? '')).status).toBe(200);
    expectRefused(await logInWith(marketplace, (await twice[1]) ?? ''));
    // Another wallet may choose the same name.
    expect((await logInWith(marketplace, await assertionOf(marketplace, other, { jti }))).status).toBe(200);
  });

  test('of no signature, a shared secret, another algorithm or a changed text is refused [ID-48]', async () => {
    const address = owner.signer.address;
    const claims = { iss: address, sub: address, aud: marketplace.dev.base_url, jti: randomUUID() };
    const good = await assertionOf(marketplace, owner.wallet);
    const [head = '', body = '', signature = ''] = good.split('.');
    const unsigned = new UnsecuredJWT(claims).setExpirationTime('1m').encode();
    const symmetric = (secret: Uint8Array) =>
      new SignJWT(claims).setExpirationTime('1m').setProtectedHeader({ alg: 'HS256' }).sign(secret);
    const header = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    for (const assertion of [
      unsigned,
      await symmetric(owner.wallet.publicKey.toBytes()),
      await symmetric(Buffer.from(address)),
      // With a signature of the wallet over the whole, which is good.
      await signedAs('HS256'),
      await signedAs('none'),
      await signedAs('ES256'),
      `${header({ alg: 'EdDSA', typ: 'x' })}.${body}.${signature}`,
      `${head}.${body}.`,
      `${head}.${body}`,
      'x',
      `${good}.x`,
    ]) {
      expectRefused(await logInWith(marketplace, assertion));
    }
    expect((await logInWith(marketplace, good)).status).toBe(200);
  });

  /** An assertion with a good Ed25519 signature, under the name of another algorithm. */
  async function signedAs(alg: string): Promise<string> {
    const good = await assertionOf(marketplace, owner.wallet);
    const head = Buffer.from(JSON.stringify({ alg })).toString('base64url');
    const text = `${head}.${good.split('.')[1]}`;
    const signature = await owner.signer.signMessage(Buffer.from(text));
    return `${text}.${Buffer.from(signature).toString('base64url')}`;
  }

  test('that is too large is refused, and so is one of an address without a private key [ID-48, ID-54]', async () => {
    const large = await logInWith(
      marketplace,
      await assertionOf(marketplace, owner.wallet, { more: 'x'.repeat(3_000) }),
    );
    expectRefused(large);
    expect(large.body['error_description']).toContain('longer than');
    const endless = await logInWith(marketplace, 'x'.repeat(1_000_000));
    expect([endless.status, endless.body['error']]).toEqual([400, 'invalid_request']);
    const [derived] = PublicKey.findProgramAddressSync(
      [Buffer.from('x')],
      new PublicKey(owner.signer.address),
    );
    // Anyone can sign for the neutral point: its signatures are all zeros.
    for (const address of [derived.toBase58(), new PublicKey([1, ...Array<number>(31).fill(0)]).toBase58()]) {
      expectRefused(
        await logInWith(
          marketplace,
          await assertionOf(marketplace, owner.wallet, { iss: address, sub: address }),
        ),
      );
    }
  });

  test('is asked for by its parameters, and is for its own grant alone [ID-48]', async () => {
    const assertion = await assertionOf(marketplace, owner.wallet);
    const errors = async (changes: Record<string, string | null>, headers = {}) => {
      const { status, body } = await logInWith(marketplace, assertion, changes, headers);
      return [status, body['error']];
    };
    expect(await errors({ client_assertion: null })).toEqual([400, 'invalid_request']);
    expect(await errors({ client_assertion_type: null })).toEqual([400, 'invalid_request']);
    expect(await errors({ client_assertion_type: `${ASSERTION_TYPE}x` })).toEqual([401, 'invalid_client']);
    expect(await errors({ client_id: other.publicKey.toBase58() })).toEqual([401, 'invalid_client']);
    expect(await errors({ client_secret: 'x' })).toEqual([401, 'invalid_client']);
    expect(await errors({}, { authorization: 'Basic eDp4' })).toEqual([401, 'invalid_client']);
    const app = await newTestApp(marketplace);
    const code = await app.connect(owner);
    const refused = await app.redeem(code, { client_assertion: assertion });
    expect([refused.status, refused.body['error']]).toEqual([401, 'invalid_client']);
    // None of them used it up.
    expect((await logInWith(marketplace, assertion)).status).toBe(200);
  });
});

/** Refused as a client that is not known, without a word of the assertion. */
function expectRefused({ status, headers, body }: OAuthAnswer): void {
  expect({ status, error: body['error'] }).toEqual({ status: 401, error: 'invalid_client' });
  expect(body['error_description']).toMatch(/^The client assertion .{5,100}\.$/);
  expect(headers.get('cache-control')).toBe('no-store');
}
