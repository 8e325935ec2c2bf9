import { once } from 'node:events';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startHttpStandIn, type HttpStandIn } from '../testing/index.js';
import {
  createOutboundHttp,
  ForbiddenUrlError,
  isPublicAddress,
  readText,
  ResponseTooLargeError,
  type OutboundHttp,
} from './outbound-http.js';

const PRIVATE = [
  '127.0.0.1',
  '127.255.255.254',
  '10.0.0.1',
  '172.16.0.1',
  '192.168.1.1',
  '169.254.1.1',
  '169.254.169.254', // metadata of AWS, Google and Azure
  '100.100.100.200', // metadata of Alibaba
  '192.0.0.192', // metadata of Oracle
  '168.63.129.16', // Azure's own services
  '100.64.0.1',
  '0.0.0.0',
  '255.255.255.255',
  '224.0.0.1',
  '192.0.2.1',
  '198.18.0.1',
  '240.0.0.1',
  '::',
  '::1',
  'fe80::1',
  'fec0::1',
  'fc00::1',
  'fd00:ec2::254', // metadata of AWS
  'ff02::1',
  '2001:db8::1',
  '2001::1', // Teredo
  '100::1',
  '::ffff:127.0.0.1',
  '::ffff:10.0.0.1',
  '::ffff:168.63.129.16',
  '::ffff:0:127.0.0.1',
  '::127.0.0.1',
  '::a00:1',
  '64:ff9b::127.0.0.1',
  '64:ff9b::a9fe:a9fe',
  '64:ff9b:1:a00:0:100:808:808', // a network's own NAT64, which carries 10.0.0.1 in the middle
  '2002:7f00:1::',
  '2002:a9fe:a9fe::1',
];
const PUBLIC = [
  '1.1.1.1',
  '8.8.8.8',
  '2606:4700::1111',
  '64:ff9b::8.8.8.8',
  '2002:808:808::1',
  '::ffff:8.8.8.8',
];

const inUrl = (address: string) => (address.includes(':') ? `[${address}]` : address);

describe('an address', () => {
  const outbound = createOutboundHttp(new Set());
  afterAll(() => outbound.close());

  it.each(PRIVATE)('%s is not called [EXE-31]', async (address) => {
    expect(isPublicAddress(address)).toBe(false);
    const url = `https://${inUrl(address)}/hook`;
    expect(() => outbound.checkUrl(url)).toThrow(ForbiddenUrlError);
    await expect(outbound.fetch(url)).rejects.toThrow(ForbiddenUrlError);
  });

  it.each(PUBLIC)('%s may be called', (address) => {
    expect(isPublicAddress(address)).toBe(true);
    expect(() => outbound.checkUrl(`https://${inUrl(address)}/hook`)).not.toThrow();
  });

  it.each([
    'https://2130706433/',
    'https://0x7f.1/',
    'https://017700000001/',
    'https://127.1/',
    'https://①②⑦.0.0.1/',
  ])('written as %s is still loopback', (url) => {
    expect(() => outbound.checkUrl(url)).toThrow(/public address/);
  });

  it.each(['not an address', '', '1.2.3.4.5', 'example.com'])('"%s" is none', (text) => {
    expect(isPublicAddress(text)).toBe(false);
  });
});

describe('a URL', () => {
  const outbound = createOutboundHttp(new Set());
  afterAll(() => outbound.close());

  it.each([
    ['http', 'http://example.com/', /only https/],
    ['ftp', 'ftp://example.com/', /only https/],
    ['file', 'file:///etc/passwd', /only https/],
    ['data', 'data:text/plain,hello', /only https/],
    ['with credentials', 'https://user:secret@example.com/', /carries credentials/],
    ['that is malformed', 'https://', /malformed/],
    ['that is relative', '/v1/agents', /malformed/],
  ])('%s is refused', async (_, url, reason) => {
    expect(() => outbound.checkUrl(url)).toThrow(reason);
    await expect(outbound.fetch(url)).rejects.toThrow(ForbiddenUrlError);
  });

  it.each(['localhost', 'localhost.', 'anything.localhost'])(
    'whose name %s leads to a private address is refused when connecting [EXE-31]',
    async (name) => {
      const url = `https://${name}/`;
      expect(() => outbound.checkUrl(url)).not.toThrow();
      const error = await outbound.fetch(url).catch((caught: unknown) => caught);
      const cause = (error as Error).cause as NodeJS.ErrnoException;
      // Where the resolver does not know names below localhost there is nothing to connect to either.
      if (cause.code === 'ENOTFOUND' && name !== 'localhost') return;
      expect(cause).toBeInstanceOf(ForbiddenUrlError);
    },
  );
});

describe('an allowed origin', () => {
  let server: HttpStandIn;
  let other: HttpStandIn;
  let asked: string[];
  let outbound: OutboundHttp;

  beforeAll(async () => {
    server = await startHttpStandIn((request, response) => {
      asked.push(request.url ?? '');
      if (request.url === '/redirect') response.writeHead(302, { location: '/secret' }).end();
      else if (request.url === '/elsewhere') response.writeHead(307, { location: other.origin }).end();
      else response.end('hello');
    });
    other = await startHttpStandIn((request, response) => {
      asked.push(`other ${request.url}`);
      response.end();
    });
  });
  afterAll(() => Promise.all([server.close(), other.close()]));
  beforeEach(() => {
    asked = [];
    outbound = createOutboundHttp(new Set([server.origin]));
  });
  afterEach(() => outbound.close());

  it('is exempt, path and query included', async () => {
    const response = await outbound.fetch(`${server.origin}/hook?x=1`);
    expect(await response.text()).toBe('hello');
    expect(asked).toEqual(['/hook?x=1']);
  });

  it('exempts no other port, scheme or name [EXE-31]', async () => {
    const { port } = server;
    for (const url of [
      other.origin,
      `https://127.0.0.1:${port}/`,
      `http://localhost:${port}/`,
      `http://127.0.0.2:${port}/`,
      `http://127.0.0.1:${port}@example.com/`,
    ]) {
      expect(() => outbound.checkUrl(url)).toThrow(ForbiddenUrlError);
    }
    expect(asked).toEqual([]);
  });

  it('may be added and removed while the client is in use', async () => {
    const origins = new Set<string>();
    const live = createOutboundHttp(origins);
    expect(() => live.checkUrl(server.origin)).toThrow(ForbiddenUrlError);
    origins.add(server.origin);
    expect(() => live.checkUrl(server.origin)).not.toThrow();
    await live.close();
  });

  it.each(['/redirect', '/elsewhere'])('is not followed where it redirects: %s', async (path) => {
    const response = await outbound.fetch(server.origin + path, { redirect: 'follow' });
    expect(Math.floor(response.status / 100)).toBe(3);
    expect(asked).toEqual([path]);
  });
});

describe('a body', () => {
  it('is read whole up to the bound, and not beyond it', async () => {
    expect(await readText(new Response('grüße'), 7)).toBe('grüße');
    await expect(readText(new Response('grüße'), 6)).rejects.toThrow(ResponseTooLargeError);
    expect(await readText(new Response(null), 0)).toBe('');
  });

  it('without an end is left off, and its connection closed', async () => {
    const server = await startHttpStandIn((_, response) => {
      const more = () => {
        while (!response.destroyed && response.write('x'.repeat(10_000)));
      };
      response.on('drain', more);
      closed = once(response, 'close');
      more();
    });
    let closed: Promise<unknown> | undefined;
    const outbound = createOutboundHttp(new Set([server.origin]));
    const response = await outbound.fetch(server.origin);
    await expect(readText(response, 100_000)).rejects.toThrow(ResponseTooLargeError);
    await closed;
    await outbound.close();
    await server.close();
  });
});
