import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { createMetrics } from './metrics.js';

const PAGE = readFileSync(new URL('../../../docs/operations.md', import.meta.url), 'utf8');

it('every metric is named in docs/operations.md, and every one that is named there exists', async () => {
  const metrics = createMetrics();
  metrics.watch({
    openCharges: async () => new Map(),
    slotsTaken: async () => 0,
    runsWaiting: async () => 0,
    runLog: async () => ({ pendingRuns: 0, finalBatch: 0, openSeconds: 0 }),
    deliveriesWaiting: async () => ({ count: 0, oldestSeconds: 0 }),
    openPayments: async () => new Map(),
    till: () => undefined,
    sandboxes: {},
    connections: () => ({ total: 0, idle: 0, waiting: 0 }),
    indexAgeSeconds: () => undefined,
    reconcilerAgeSeconds: () => undefined,
    isLeader: () => false,
    funds: () => undefined,
    rpc: () => ({ endpoints: [], disputes: 0 }),
  });
  const { body } = await metrics.expose();
  const made = [...body.matchAll(/^# TYPE (agent_rental_\w+)/gm)].map(([, name = '']) => name);
  const named = new Set([...PAGE.matchAll(/`(agent_rental_\w+)`/g)].map(([, name = '']) => name));
  expect(made.length).toBeGreaterThan(20);
  expect([...named].toSorted()).toEqual(made.toSorted());
});
