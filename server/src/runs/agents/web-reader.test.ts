import { once } from 'node:events';
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createOutboundHttp, type OutboundHttp } from '../../platform/outbound-http.js';
import { collectingGarbage, startHttpStandIn, type HttpStandIn } from '../../testing/index.js';
import { createWebReader, WebRefusal, type WebReader } from './web-reader.js';

const NEVER = new AbortController().signal;

let site: HttpStandIn;
let asked: { method: string; url: string; headers: IncomingHttpHeaders }[];
let serve: (response: ServerResponse, url: string) => void;
let outbound: OutboundHttp;
let web: WebReader;

beforeEach(async () => {
  asked = [];
  site = await startHttpStandIn((request, response) => {
    const { method = '', url = '', headers } = request;
    asked.push({ method, url, headers });
    serve(response, url);
  });
  // The site represents one on the public internet.
  outbound = createOutboundHttp(new Set([site.origin]), { keepAlive: false });
  web = createWebReader(outbound, { timeoutMs: 2_000 });
});
afterEach(async () => {
  await outbound.close();
  await site.close();
});

const text = (response: ServerResponse, body: string | Buffer, headers: Record<string, string> = {}) =>
  void response.writeHead(200, { 'content-type': 'text/plain; charset=utf-8', ...headers }).end(body);

describe('a page', () => {
  it('is read by GET, and nothing goes with it that says who asks [EXE-43]', async () => {
    serve = (response) => text(response, 'grüße', { 'set-cookie': 'a=b' });
    const page = { url: `${site.origin}/p?q=1`, status: 200, content_type: 'text/plain', text: 'grüße' };
    expect(await web.read(`${site.origin}/p?q=1`, NEVER)).toEqual({ ...page, truncated: false });
    await web.read(`${site.origin}/again`, NEVER);
    expect(asked.map(({ method, url }) => `${method} ${url}`)).toEqual(['GET /p?q=1', 'GET /again']);
    for (const name of ['cookie', 'authorization', 'referer'])
      expect(asked[1]?.headers).not.toHaveProperty(name);
  });

  it.each([404, 500])('that answers %i is shown as it is', async (status) => {
    serve = (response) => void response.writeHead(status, { 'content-type': 'text/html' }).end('sorry');
    expect(await web.read(site.origin, NEVER)).toMatchObject({ status, text: 'sorry' });
  });

  it('in another character set is text all the same', async () => {
    serve = (response) =>
      text(response, Buffer.from('grüße', 'latin1'), { 'content-type': 'text/plain; charset="ISO-8859-1"' });
    expect((await web.read(site.origin, NEVER)).text).toBe('grüße');
  });

  it('that was moved is found, and says where', async () => {
    serve = (response, url) => {
      if (url === '/new') text(response, 'here');
      else response.writeHead(302, { location: '/new' }).end();
    };
    const moved = await web.read(`${site.origin}/old`, NEVER);
    expect(moved).toMatchObject({ url: `${site.origin}/new`, text: 'here' });
  });

  it('without end is read up to a bound, packed or not', async () => {
    serve = (response) => {
      response.writeHead(200, { 'content-type': 'text/plain' });
      const more = () => {
        while (response.write('x'.repeat(64 * 1024)));
      };
      response.on('drain', more);
      more();
    };
    const page = await web.read(site.origin, NEVER);
    expect(page).toMatchObject({ truncated: true });
    expect(page.text).toHaveLength(100_000);
    const bomb = gzipSync(Buffer.alloc(200 * 1024 * 1024, 'y'));
    serve = (response) => text(response, bomb, { 'content-encoding': 'gzip' });
    const before = process.memoryUsage().arrayBuffers;
    expect(await web.read(site.origin, NEVER)).toMatchObject({ truncated: true });
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(50 * 1024 * 1024);
  });
});

describe('a refusal', () => {
  it.each([
    'http://example.com/',
    'ftp://example.com/',
    'file:///etc/passwd',
    'https://127.0.0.1/',
    'https://[::1]/',
    'https://10.0.0.1/',
    'https://169.254.169.254/latest/meta-data/',
    'https://[::ffff:169.254.169.254]/',
    'https://0x7f000001/',
    'https://2130706433/',
    'https://localhost/',
    'https://user:password@example.com/',
    'nonsense',
  ])('%s is not asked, and not when a page leads there [EXE-43]', async (target) => {
    await expect(web.read(target, NEVER)).rejects.toThrow(WebRefusal);
    serve = (response) => void response.writeHead(302, { location: target }).end();
    if (target === 'nonsense') return;
    await expect(web.read(site.origin, NEVER)).rejects.toThrow(WebRefusal);
    expect(asked).toHaveLength(1);
  });

  it('a page that leads in a circle', async () => {
    serve = (response) => void response.writeHead(301, { location: '/' }).end();
    await expect(web.read(site.origin, NEVER)).rejects.toThrow('redirected more than');
    expect(asked).toHaveLength(6);
  });

  it('of other content than text', async () => {
    serve = (response) => text(response, Buffer.from([1, 2]), { 'content-type': 'image/png' });
    await expect(web.read(site.origin, NEVER)).rejects.toThrow('image/png');
  });

  it('a page that does not come, in words that tell nothing of the network', async () => {
    serve = () => undefined;
    await expect(web.read(site.origin, NEVER)).rejects.toThrow('took too long');
    await site.close();
    await expect(web.read(site.origin, NEVER)).rejects.toThrow(
      /^The page could not be read: the connection failed\.$/,
    );
    site = await startHttpStandIn(() => undefined);
  });
});

it('a page that comes drop by drop ends in time although garbage is collected [EXE-47]', async () => {
  web = createWebReader(outbound, { timeoutMs: 300 });
  serve = (response) => {
    response.writeHead(200, { 'content-type': 'text/plain' });
    const drip = setInterval(() => response.write('x'), 10);
    response.on('close', () => clearInterval(drip));
  };
  const pages = await collectingGarbage(() =>
    Promise.allSettled(Array.from({ length: 20 }, () => web.read(site.origin, NEVER))),
  );
  for (const page of pages) {
    expect(page).toMatchObject({
      status: 'rejected',
      reason: { message: expect.stringContaining('too long') },
    });
  }
});

/** Answers that ask to keep the connection, or that never end. */
const CLINGING: Readonly<Record<string, (response: ServerResponse, url: string) => void>> = {
  'asks for ten minutes': (response) => text(response, 'x', { 'keep-alive': 'timeout=600' }),
  'is no text and does not end': (response) => {
    response.writeHead(200, { 'content-type': 'image/png', 'keep-alive': 'timeout=600' });
    response.write('x');
  },
  'leads elsewhere and does not end': (response, url) => {
    response.writeHead(url === '/new' ? 200 : 302, {
      'content-type': 'text/plain',
      'keep-alive': 'timeout=600',
      ...(url === '/new' ? {} : { location: '/new' }),
    });
    if (url === '/new') response.end('x');
    else response.write('x');
  },
  'is longer than the limit': (response) => {
    response.writeHead(200, { 'content-type': 'text/plain', 'keep-alive': 'timeout=600' });
    response.write('x'.repeat(3 * 1024 * 1024));
  },
  'never comes': () => undefined,
};

it.each(Object.entries(CLINGING))(
  'a page that %s holds no connection once it was read',
  async (_what, answer) => {
    web = createWebReader(outbound, { timeoutMs: 500 });
    const closed = new Map<Socket | null, Promise<unknown>>();
    serve = (response, url) => {
      const { socket } = response;
      if (socket !== null && !closed.has(socket)) {
        closed.set(socket, new Promise((resolve) => socket.once('close', resolve)));
        // Closed in the middle of a body.
        socket.on('error', () => undefined);
      }
      answer(response, url);
    };
    await Promise.allSettled(Array.from({ length: 20 }, () => web.read(site.origin, NEVER)));
    const endedAt = performance.now();
    await Promise.all(closed.values());
    expect(closed.size).toBeGreaterThan(0);
    // At once: a connection that is kept is closed after 4 s at the earliest.
    expect(performance.now() - endedAt).toBeLessThan(2_000);
  },
);

it('an abort closes the connection', async () => {
  const controller = new AbortController();
  let closed: Promise<unknown> | undefined;
  serve = (response) => {
    closed = once(response, 'close');
    response.writeHead(200, { 'content-type': 'text/plain' });
    response.write('slow', () => controller.abort(new Error('enough')));
  };
  await expect(web.read(site.origin, controller.signal)).rejects.toThrow('enough');
  await closed;
});
