import fc from 'fast-check';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { createOutboundHttp } from '../../platform/outbound-http.js';
import { createFeedRate, parseRate, unitsFor, type RateFeed } from './rate.js';

const stops: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

/** A feed on loopback whose answers a test decides, with its clock. */
async function feedThat(answer: (request: IncomingMessage, response: ServerResponse) => void) {
  let requests = 0;
  const server = createServer((request, response) => {
    requests += 1;
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const outbound = createOutboundHttp(new Set([origin]), { keepAlive: false });
  stops.push(
    () => outbound.close(),
    () => new Promise<void>((resolve) => void server.close(() => resolve())),
  );
  const feed: RateFeed = {
    url: `${origin}/price`,
    path: ['data', 'amount'],
    least: 50_000_000n,
    most: 500_000_000n,
    maximalAgeMs: 300_000,
  };
  const clock = { nowMs: 1_000_000 };
  const warnings: unknown[] = [];
  const rate = createFeedRate(
    feed,
    outbound,
    { warn: (fields: unknown) => warnings.push(fields) },
    () => clock.nowMs,
  );
  return { rate, clock, warnings, requests: () => requests };
}

const priced = (amount: unknown) => (_: IncomingMessage, response: ServerResponse) =>
  response.end(JSON.stringify({ data: { amount } }));

describe('units of USDC', () => {
  it('pay for lamports at least, and with no whole unit too many', () => {
    fc.assert(
      fc.property(fc.bigInt(0n, 10n ** 15n), fc.bigInt(1n, 10n ** 15n), (lamports, rate) => {
        const units = unitsFor(lamports, rate);
        expect(units * 1_000_000_000n >= lamports * rate).toBe(true);
        expect((units - 1n) * 1_000_000_000n < lamports * rate).toBe(true);
      }),
    );
    expect(unitsFor(1n, 142_500_000n)).toBe(1n);
    expect(unitsFor(1_000_000_000n, 142_500_000n)).toBe(142_500_000n);
  });

  it.each([
    ['142.5', 142_500_000n],
    ['142', 142_000_000n],
    ['0.0000019', 1n],
    ['0', undefined],
    ['0.0000001', undefined],
    ['-1', undefined],
    ['1e3', undefined],
    ['', undefined],
    ['1.', undefined],
    ['9999999999', undefined],
  ])('are read from the text %j', (text, units) => {
    expect(parseRate(text)).toBe(units);
  });
});

describe('a price feed', () => {
  it('is asked once by many callers, and again after a while, without keeping them', async () => {
    let amount = '142.5';
    const feed = await feedThat((request, response) => priced(amount)(request, response));
    const first = await Promise.all([feed.rate(), feed.rate(), feed.rate()]);
    expect(first).toEqual(Array.from({ length: 3 }, () => ({ unitsPerSol: 142_500_000n })));
    expect(feed.requests()).toBe(1);
    amount = '150';
    feed.clock.nowMs += 30_000;
    expect(await feed.rate()).toEqual({ unitsPerSol: 142_500_000n });
    await expect.poll(() => feed.rate()).toEqual({ unitsPerSol: 150_000_000n });
    expect(feed.requests()).toBe(2);
  });

  it('gives its last price while it fails, and none once that is too old', async () => {
    let isUp = true;
    const feed = await feedThat((request, response) => {
      if (isUp) priced(100)(request, response);
      else response.writeHead(500).end();
    });
    expect(await feed.rate()).toEqual({ unitsPerSol: 100_000_000n });
    isUp = false;
    feed.clock.nowMs += 300_000;
    expect(await feed.rate()).toEqual({ unitsPerSol: 100_000_000n });
    await expect.poll(() => feed.warnings.length).toBe(1);
    feed.clock.nowMs += 30_000;
    expect(await feed.rate()).toEqual({
      missing: 'The price feed gave no price between its bounds in 300 s.',
    });
  });

  it.each<[string, (request: IncomingMessage, response: ServerResponse) => void]>([
    ['a price below its bounds', priced('49.999999')],
    ['a price above its bounds', priced('500.000001')],
    ['another type', priced(null)],
    ['no JSON', (_, response) => response.end('142.5')],
    ['another place', (_, response) => response.end('{"amount":"142.5"}')],
    ['a redirect', (_, response) => response.writeHead(302, { location: '/other' }).end()],
    ['too many bytes', (_, response) => response.end(' '.repeat(70_000))],
    ['a broken connection', (request) => request.socket.destroy()],
  ])('is not believed with %s', async (_, answer) => {
    const feed = await feedThat(answer);
    expect(await feed.rate()).toHaveProperty('missing');
    expect(feed.warnings).toHaveLength(1);
    await feed.rate();
    expect(feed.requests()).toBe(1);
  });
});
