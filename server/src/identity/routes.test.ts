import { Keypair } from '@solana/web3.js';
import bs58 from 'bs58';
import nacl from 'tweetnacl';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createHttpServer } from '../http/server.js';
import { createInternalRequests } from '../http/internal-requests.js';
import { deriveKeys } from '../platform/keys.js';
import { firstKeyRing } from '../service-keys/index.js';
import { createLogger } from '../platform/logger.js';
import { memoryRateLimits } from '../rate-limits/memory.js';
import { openTestDatabase, type TemporaryDatabase } from '../testing/index.js';
import { createApiKeys } from './api-keys.js';
import { createAuthenticate } from './authenticate.js';
import { createChallenges } from './challenges.js';
import { createAppTokens, createUrlsOf } from './oauth/index.js';
import { identityRoutes } from './routes.js';
import { createTokens } from './tokens.js';

const ring = firstKeyRing(deriveKeys(new Uint8Array(32).fill(5)));
const wallet = Keypair.generate();
const address = wallet.publicKey.toBase58();

let database: TemporaryDatabase;
beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(() => database.close());

async function start(publicUrl?: string) {
  const [tokens, apiKeys] = [createTokens(ring), createApiKeys(database.db, 'devnet')];
  const app = await createHttpServer({
    logger: createLogger('silent'),
    rateLimits: memoryRateLimits(),
    requestsPerMinute: 1000,
    internalRequests: createInternalRequests(),
    authenticate: createAuthenticate(tokens, apiKeys, createAppTokens(database.db), createUrlsOf(publicUrl)),
  });
  onTestFinished(() => app.close());
  const challenges = createChallenges(database.db, ring);
  identityRoutes(app, {
    challenges,
    tokens,
    apiKeys,
    network: 'devnet',
    publicUrl,
    spentToday: async () => new Map(),
  });
  return { app, tokens, apiKeys };
}

type App = Awaited<ReturnType<typeof start>>['app'];

/** The sign-in text that a wallet gets from a page that reached the service under that name. */
async function offer(app: App, host: string) {
  const url = `/v1/auth/challenge?wallet=${address}&sign_in=true`;
  const response = await app.inject({ url, headers: { host } });
  return response.json<{ challenge: string; sign_in: Record<string, string> }>();
}

/** Signs for a site, and tries to log in. */
async function logIn(app: App, host: string, { domain, uri }: { domain: string; uri: string }) {
  const { challenge, sign_in: offered } = await offer(app, host);
  const message =
    `${domain} wants you to sign in with your Solana account:\n${address}\n\n` +
    `URI: ${uri}\nNonce: ${offered['nonce']}`;
  const signature = bs58.encode(nacl.sign.detached(Buffer.from(message), wallet.secretKey));
  const payload = { wallet: address, challenge, signature, sign_in_message: message };
  const response = await app.inject({ method: 'POST', url: '/v1/auth/token', headers: { host }, payload });
  return response.statusCode;
}

const EVIL = { domain: 'evil.example', uri: 'https://evil.example' };

describe('the site that a wallet signs in to', () => {
  it('is the public one, whatever name a request came by [ID-54]', async () => {
    const { app } = await start('https://market.example/app');
    for (const host of ['market.example', 'evil.example', '127.0.0.1:80']) {
      expect((await offer(app, host)).sign_in).toMatchObject({
        domain: 'market.example',
        uri: 'https://market.example',
        chainId: 'solana:devnet',
      });
    }
    const site = { domain: 'market.example', uri: 'https://market.example/app' };
    expect(await logIn(app, 'market.example', site)).toBe(200);
    expect(await logIn(app, 'evil.example', EVIL)).toBe(401);
    // This machine is not the site.
    const loopback = { domain: '127.0.0.1:80', uri: 'http://127.0.0.1:80' };
    expect(await logIn(app, '127.0.0.1:80', loopback)).toBe(401);
  });

  it('is this machine where no public one is named, and never comes from a request [ID-54]', async () => {
    const { app } = await start();
    expect((await offer(app, 'localhost')).sign_in['domain']).toBe('localhost');
    expect((await offer(app, 'evil.example')).sign_in['domain']).toBe('127.0.0.1');
    expect(await logIn(app, 'evil.example', EVIL)).toBe(401);
    expect(await logIn(app, 'localhost', { domain: 'localhost', uri: 'http://localhost' })).toBe(200);
  });
});

describe('an API key', () => {
  it('lists, makes and revokes none [ID-20]', async () => {
    const { app, apiKeys, tokens } = await start();
    const { key, id } = await apiKeys.create(address, { label: 'one' });
    const requests = [
      { method: 'GET', url: '/v1/api-keys' },
      { method: 'DELETE', url: `/v1/api-keys/${id}` },
      {
        method: 'POST',
        url: '/v1/api-keys',
        payload: { label: 'two', challenge: 'x', signature: '2'.repeat(88) },
      },
    ] as const;
    for (const request of requests) {
      const response = await app.inject({ ...request, headers: { authorization: `Bearer ${key}` } });
      expect(response.statusCode).toBe(401);
      expect(response.json<{ error: unknown }>().error).toMatchObject({ code: 'unauthorized' });
    }
    const { token } = tokens.issue(address);
    const listed = await app.inject({
      url: '/v1/api-keys',
      headers: { authorization: `Bearer ${token}` },
    });
    expect(listed.json<{ api_keys: unknown[] }>().api_keys).toHaveLength(1);
  });

  it('and a token are counted apart [LIM-1]', async () => {
    const { apiKeys, tokens } = await start();
    const identify = createAuthenticate(
      tokens,
      apiKeys,
      createAppTokens(database.db),
      createUrlsOf(undefined),
    );
    const request = { host: 'localhost', socket: {} };
    const authenticate = (header: string) => identify(header, { request, takesAppTokens: false });
    const { key } = await apiKeys.create(address, { label: 'counted' });
    const [byKey, byToken] = [
      await authenticate(`Bearer ${key}`),
      await authenticate(`bearer ${tokens.issue(address).token}`),
    ];
    expect(byKey.wallet).toBe(byToken.wallet);
    expect(byKey.rateKey).not.toBe(byToken.rateKey);
    for (const authorization of [key, `Basic ${key}`, `Bearer ${key} x`, 'Bearer', '']) {
      await expect(authenticate(authorization)).rejects.toMatchObject({ code: 'unauthorized' });
    }
  });
});
