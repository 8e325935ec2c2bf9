import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import { startTracing, type Tracing } from './export.js';
import { beginRequest, isTraced, traced, traceHeaders } from './spans.js';

const CALLER = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
const bodies: string[] = [];
const collector = createServer((request, response) => {
  request.on('data', (chunk: Buffer) => bodies.push(chunk.toString()));
  request.on('end', () => response.end('{}'));
}).listen(0, '127.0.0.1');
let collectorUrl: string;
beforeAll(async () => {
  if (!collector.listening) await once(collector, 'listening');
  collectorUrl = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`;
});
afterAll(() => collector.close());

const logger = { warn: vi.fn() };
let tracing: Tracing | undefined;
afterEach(async () => {
  await tracing?.stop();
  tracing = undefined;
  logger.warn.mockClear();
});

const start = async (endpoint: string, sampleRatio = 1) => {
  const options = { endpoint, headers: {}, sampleRatio, serviceName: 'test' };
  tracing = await startTracing(options, logger as never);
};

/** The tracing headers of a call to another service within a request. */
const headersWithin = (traceparent: string | undefined) =>
  new Promise<Record<string, string>>((resolve) => {
    const request = beginRequest('POST', traceparent);
    request.run(() => {
      resolve(traceHeaders());
      request.end('/', 200);
    });
  });

it('without a collector nothing is traced or told, and work goes on', async () => {
  expect(await traced('work', {}, async () => [isTraced(), traceHeaders()])).toEqual([false, {}]);
  expect(await headersWithin(CALLER)).toEqual({});
});

it.each([
  'nonsense',
  `00-${'0'.repeat(32)}-${'b'.repeat(16)}-01`,
  `00-${'a'.repeat(32)}-${'0'.repeat(16)}-01`,
  `ff-${'a'.repeat(32)}-${'b'.repeat(16)}-01`,
  `${CALLER}-more`,
  CALLER.toUpperCase(),
  'x'.repeat(100_000),
])('an invalid traceparent starts a new trace: %.60s', async (traceparent) => {
  await start(collectorUrl);
  const { traceparent: told } = await headersWithin(traceparent);
  expect(told).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
  expect(told).not.toContain('a'.repeat(32));
});

it('a caller that does not record its trace is believed, and so is the share of own traces', async () => {
  await start(collectorUrl, 0);
  expect((await headersWithin(undefined))['traceparent']).toMatch(/-00$/);
  expect((await headersWithin(CALLER.replace(/01$/, '00')))['traceparent']).toMatch(/^00-a{32}-\w{16}-00$/);
  expect((await headersWithin(CALLER))['traceparent']).toMatch(/^00-a{32}-\w{16}-01$/);
});

it('an error passes through a span, which has its name and not its words', async () => {
  await start(`${collectorUrl}/`);
  const error = new TypeError('a word of a caller');
  await expect(traced('work', {}, () => Promise.reject(error))).rejects.toBe(error);
  await tracing?.stop();
  expect(bodies.join()).toContain('TypeError');
  expect(bodies.join()).not.toContain('a word of a caller');
});

it('a collector that is not there costs a line in the log, and holds up no stop', async () => {
  await start('http://127.0.0.1:9');
  await traced('work', {}, async () => undefined);
  const stoppedAt = performance.now();
  await tracing?.stop();
  expect(performance.now() - stoppedAt).toBeLessThan(10_000);
  await expect.poll(() => logger.warn.mock.calls.length, { timeout: 30_000 }).toBeGreaterThan(0);
  expect(logger.warn).toHaveBeenCalledWith(expect.anything(), 'traces were not exported');
});
