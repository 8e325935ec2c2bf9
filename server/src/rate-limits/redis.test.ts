import { randomUUID } from 'node:crypto';
import { createServer, connect, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';
import { pino } from 'pino';
import { expect, onTestFinished, test, vi } from 'vitest';
import { redisRateLimits, type SharedRateLimits } from './redis.js';

const url = process.env['TEST_REDIS_URL'];
const logger = pino({ level: 'silent' });

function replica(at: string, replicas = 1): SharedRateLimits {
  const limits = redisRateLimits(at, replicas, logger);
  onTestFinished(() => limits.close());
  return limits;
}

/** Waits until a replica counts in Redis: before it is connected it counts by itself. */
async function connected(...limits: SharedRateLimits[]): Promise<void> {
  const key = randomUUID();
  await vi.waitFor(
    async () => {
      for (const [index, one] of limits.entries()) {
        const { remaining, limit } = await one.count(`${key}:${index}`, 1_000_000);
        expect(limit).toBe(1_000_000);
        const other = await limits[(index + 1) % limits.length]?.count(`${key}:${index}`, 1_000_000);
        expect(other?.remaining).toBe(remaining - 1);
      }
    },
    { timeout: 15_000 },
  );
}

test.runIf(url)('two replicas let exactly as many through as the limit says [LIM-12]', async () => {
  const limits = [replica(url ?? ''), replica(url ?? '')] as const;
  await connected(...limits);
  const key = randomUUID();
  const states = await Promise.all(
    Array.from({ length: 260 }, (_, index) => limits[index % 2 === 0 ? 0 : 1].count(key, 100)),
  );
  expect(states.filter((state) => !state.exceeded)).toHaveLength(100);
});

test.runIf(url)('a server that was busy for a while does not take Redis for dead [LIM-12]', async () => {
  const limits = replica(url ?? '', 4);
  await connected(limits);
  const key = randomUUID();
  const counts = Array.from({ length: 10 }, () => limits.count(key, 100));
  // Asked, and not yet answered.
  await new Promise((resolve) => process.nextTick(resolve));
  const end = performance.now() + 400;
  while (performance.now() < end);
  for (const { limit } of await Promise.all(counts)) expect(limit).toBe(100);
});

test.runIf(url)(
  'a Redis that dies leaves each replica its share of the limit, and takes over again [LIM-12]',
  async () => {
    const { hostname, port } = new URL(url ?? '');
    const open = new Set<Socket>();
    const proxy = createServer((socket) => {
      const upstream = connect(Number(port || 6379), hostname);
      open.add(socket).add(upstream);
      socket.pipe(upstream).pipe(socket);
      for (const end of [socket, upstream]) end.on('error', () => end.destroy());
    });
    const listen = (at: number) => new Promise<void>((resolve) => proxy.listen(at, '127.0.0.1', resolve));
    await listen(0);
    const at = (proxy.address() as AddressInfo).port;
    const limits = replica(`redis://127.0.0.1:${at}`, 4);
    await connected(limits);

    proxy.close();
    for (const socket of open) socket.destroy();
    const key = randomUUID();
    const states = await Promise.all(Array.from({ length: 40 }, () => limits.count(key, 100)));
    expect(states.filter((state) => !state.exceeded)).toHaveLength(25);

    await listen(at);
    onTestFinished(() => {
      for (const socket of open) socket.destroy();
      proxy.close();
    });
    await vi.waitFor(async () => expect(await limits.count(key, 100)).toMatchObject({ limit: 100 }), {
      timeout: 10_000,
    });
  },
);

test.runIf(url)('a Redis that hangs is asked now and then, not by every request', async () => {
  const { hostname, port } = new URL(url ?? '');
  const open = new Set<Socket>();
  let hangs = false;
  let asked = 0;
  const proxy = createServer((socket) => {
    const upstream = connect(Number(port || 6379), hostname);
    open.add(socket).add(upstream);
    upstream.pipe(socket);
    socket.on('data', (chunk) => {
      if (hangs) asked += 1;
      else upstream.write(chunk);
    });
    for (const end of [socket, upstream]) end.on('error', () => end.destroy());
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    for (const socket of open) socket.destroy();
    proxy.close();
  });
  const limits = replica(`redis://127.0.0.1:${(proxy.address() as AddressInfo).port}`, 4);
  await connected(limits);

  hangs = true;
  const key = randomUUID();
  const states = [];
  for (let time = 0; time < 40; time += 1) states.push(await limits.count(key, 100));
  expect(states.filter((state) => !state.exceeded)).toHaveLength(25);
  expect(asked).toBeGreaterThan(0);
  expect(asked).toBeLessThan(10);
});

test('on CI there is a Redis to test with', () => {
  expect(url !== undefined || process.env['CI'] === undefined).toBe(true);
});
