import { expect, it } from 'vitest';
import { createInternalRequests } from '../http/internal-requests.js';
import { createHttpServer } from '../http/server.js';
import { createLogger } from '../platform/logger.js';
import { memoryRateLimits } from '../rate-limits/memory.js';
import { emailPageRoutes } from './email-routes.js';

const TOKEN = 'A1b2'.repeat(11).slice(1);

/** The pages alone, with the tokens that they acted on. */
async function open() {
  const acted: string[] = [];
  const app = await createHttpServer({
    logger: createLogger('silent'),
    rateLimits: memoryRateLimits(),
    requestsPerMinute: 100,
    internalRequests: createInternalRequests(),
    authenticate: () => Promise.reject(new Error('These pages are for everybody.')),
  });
  emailPageRoutes(app, {
    confirm: async (token) => acted.push(`confirm ${token}`) === 1,
    unsubscribe: async (token) => void acted.push(`unsubscribe ${token}`),
  });
  return { app, acted };
}

it.each(['confirm', 'unsubscribe'])(
  'the link to %s shows one button, and changes nothing by itself',
  async (kind) => {
    const { app, acted } = await open();
    const url = `/email/${kind}?token=${TOKEN}`;
    for (const method of ['GET', 'HEAD'] as const)
      expect((await app.inject({ method, url })).statusCode).toBe(200);
    expect(acted).toEqual([]);
    const { body } = await app.inject({ url });
    expect(body).toContain(`<form method="post" action="${url}"><button type="submit">`);
    expect(body.match(/<button/g)).toHaveLength(1);
    expect((await app.inject({ method: 'POST', url })).statusCode).toBe(200);
    expect(acted).toEqual([`${kind} ${TOKEN}`]);
    await app.close();
  },
);

it.each([
  ['a form', 'application/x-www-form-urlencoded', 'List-Unsubscribe=One-Click'],
  [
    'a form of parts',
    'multipart/form-data; boundary=x',
    '--x\r\nContent-Disposition: form-data; name="List-Unsubscribe"\r\n\r\nOne-Click\r\n--x--\r\n',
  ],
])('the one click of a mail program unsubscribes, as %s', async (_, type, payload) => {
  const { app, acted } = await open();
  const answer = await app.inject({
    method: 'POST',
    url: `/email/unsubscribe?token=${TOKEN}`,
    headers: { 'content-type': type },
    payload,
  });
  expect([answer.statusCode, acted]).toEqual([200, [`unsubscribe ${TOKEN}`]]);
  await app.close();
});

it('a link that is cut, repeated or over changes nothing', async () => {
  const { app, acted } = await open();
  for (const query of ['', '?token=x', `?token=${TOKEN}&token=${TOKEN}`, '?token=%22%3E%3Cscript%3E']) {
    const { statusCode, body } = await app.inject({ method: 'POST', url: `/email/confirm${query}` });
    expect([query, statusCode]).toEqual([query, 404]);
    expect(body).not.toContain('<script');
  }
  expect(acted).toEqual([]);
  const confirm = () => app.inject({ method: 'POST', url: `/email/confirm?token=${TOKEN}` });
  expect((await confirm()).statusCode).toBe(200);
  expect((await confirm()).statusCode).toBe(404);
  await app.close();
});
