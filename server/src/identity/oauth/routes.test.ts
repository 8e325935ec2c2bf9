import { expect, it, onTestFinished } from 'vitest';
import { deriveKeys } from '../../platform/keys.js';
import { firstKeyRing } from '../../service-keys/index.js';
import { createInternalRequests } from '../../http/internal-requests.js';
import { memoryRateLimits } from '../../rate-limits/memory.js';
import { createHttpServer } from '../../http/server.js';
import { createLogger } from '../../platform/logger.js';
import { createClientAssertions } from './proofs/client-assertions.js';
import { createDpopProofs } from './proofs/dpop-proofs.js';
import { createRegisteredClients } from './registered-clients.js';
import { oauthRoutes } from './routes.js';
import { createUrlsOf } from './service-urls.js';

const GOOD = { client_name: 'An app', redirect_uris: ['https://app.example/callback'] };
const never = () => Promise.reject(new Error('This is not asked here.'));

/** The endpoints alone, without a database: each address may call them three times a minute. */
async function start() {
  const app = await createHttpServer({
    logger: createLogger('silent'),
    rateLimits: memoryRateLimits(),
    requestsPerMinute: 3,
    internalRequests: createInternalRequests(),
    authenticate: never,
    trustedProxies: ['127.0.0.1'],
  });
  oauthRoutes(app, {
    authorization: { read: never, connect: never },
    grants: { connect: never, redeem: never, refresh: never, revoke: never, hasClient: never },
    registered: createRegisteredClients(firstKeyRing(deriveKeys(Buffer.alloc(32, 7)))),
    programs: { logIn: never },
    assertions: createClientAssertions({ use: never }),
    proofs: createDpopProofs({ use: never }),
    urlsOf: createUrlsOf('https://market.example'),
  });
  onTestFinished(() => app.close());
  return app;
}

it('registrations are limited for each address, in the words of OAuth [ID-47]', async () => {
  const app = await start();
  const register = (from: string) =>
    app.inject({
      method: 'POST',
      url: '/oauth/register',
      payload: GOOD,
      headers: { 'x-forwarded-for': from },
    });
  for (let count = 0; count < 3; count += 1) expect((await register('192.0.2.1')).statusCode).toBe(201);
  const refused = await register('192.0.2.1');
  expect(refused.statusCode).toBe(429);
  expect(refused.json()).toMatchObject({ error: 'temporarily_unavailable' });
  expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
  expect((await register('192.0.2.2')).statusCode).toBe(201);
});

it('logins of programs are limited for each address before their assertions are read [ID-47]', async () => {
  const app = await start();
  const logIn = (from: string) =>
    app.inject({
      method: 'POST',
      url: '/oauth/token',
      payload: new URLSearchParams({
        grant_type: 'client_credentials',
        client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
        client_assertion: 'x',
      }).toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded', 'x-forwarded-for': from },
    });
  for (let count = 0; count < 3; count += 1) {
    expect((await logIn('192.0.2.1')).json()).toMatchObject({ error: 'invalid_client' });
  }
  const refused = await logIn('192.0.2.1');
  expect(refused.statusCode).toBe(429);
  expect(refused.json()).toMatchObject({ error: 'temporarily_unavailable' });
  expect((await logIn('192.0.2.2')).statusCode).toBe(401);
});

it('a fault of the service says nothing of itself [ID-47]', async () => {
  const app = await start();
  const refused = await app.inject({
    method: 'POST',
    url: '/oauth/token',
    payload: 'grant_type=refresh_token&client_id=x&refresh_token=arr_x',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  });
  expect(refused.statusCode).toBe(500);
  expect(refused.json()).toMatchObject({ error: 'server_error' });
  expect(refused.body).not.toContain('not asked here');
});
