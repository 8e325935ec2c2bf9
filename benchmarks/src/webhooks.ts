import { setTimeout as delay } from 'node:timers/promises';
import type { WalletEvent } from '@agent-rental/contract';
import { readBody, startHttpStandIn, type HttpStandIn } from '@agent-rental/server/testing';
import { call } from '@agent-rental/test/support/http';
import { newParticipant } from '@agent-rental/test/support/participant';
import { until } from '@agent-rental/test/support/timing/until';
import type { Pool } from 'pg';
import { startMarket } from './harness/market.js';
import { Sheet, timesOf, type Suite } from './report.js';

const EVENTS = Number(process.env['BENCH_EVENTS'] ?? 10_000);
/** Events a second: more than a busy market has. */
const RATE = Number(process.env['BENCH_RATE'] ?? 200);
const ENDPOINTS = 100;
/** Endpoints that take each request and never answer. */
const DEAD = 5;
/** The most from the commit of an event to its receipt at a living endpoint. */
const MOST_MS = 2_000;
const APPEND = `select append_event($1, 'key.created', $2, '{"key_id": "0198c0de-5a1e-4f00-8000-000000000001", "label": "bench", "scopes": []}')`;

/** When something reached a living endpoint, by the subject of its event. */
type Receipts = Map<string, number>;

/** Measures from the commit of an event to its receipt, and from the call of a bare `fetch` to its receipt at the same pace. */
export async function measureWebhooks(
  { events, rate }: { events: number; rate: number },
  sheet: Sheet,
): Promise<Sheet> {
  const receipts: Receipts = new Map();
  let copies = 0;
  const living = await startHttpStandIn(async (request, response) => {
    const { subject } = JSON.parse(await readBody(request)) as WalletEvent;
    if (receipts.has(subject)) copies += 1;
    else receipts.set(subject, performance.now());
    response.writeHead(204).end();
  });
  const dead = await startHttpStandIn(() => undefined);
  const market = await startMarket({ EXAMPLES: 'off', ALLOW_LOOPBACK: `${living.origin},${dead.origin}` });
  try {
    const wallets: string[] = [];
    sheet.progress(`Creating ${ENDPOINTS} webhooks`);
    for (let n = 0; n < ENDPOINTS; n += 1) {
      const { token, signer } = await newParticipant(market.server);
      const url = `${n < DEAD ? dead.origin : living.origin}/${n}`;
      const { status } = await call(market.server, 'POST', '/v1/webhooks', { token, body: { url } });
      if (status !== 201) throw new Error(`A webhook was answered ${status}.`);
      wallets.push(signer.address);
    }
    const bare = await measureBare(living, receipts, { events, rate });
    sheet.add({ what: 'bare fetch, called to received', ...timesOf(bare) });
    const { ms, lost } = await measureEvents(market.database, wallets, receipts, { events, rate });
    sheet.add({ what: 'event, committed to received', ...timesOf(ms), lost, copies });
    sheet.atMost('event, committed to received, p95', timesOf(ms).p95_ms, MOST_MS, 'ms');
    sheet.atMost('events that did not arrive', lost, 0, 'events');
    sheet.setting = { endpoints: ENDPOINTS, dead: DEAD, events, events_per_s: rate };
    return sheet;
  } finally {
    await market.close();
    await living.close();
    await dead.close();
  }
}

/** Starts work so often a second, without waiting for it, and then waits for all. */
async function paced(count: number, rate: number, work: (n: number) => Promise<void>): Promise<void> {
  const startedAt = performance.now();
  const all: Promise<void>[] = [];
  for (let n = 0; n < count; n += 1) {
    const waitMs = startedAt + (n * 1_000) / rate - performance.now();
    if (waitMs > 1) await delay(waitMs);
    all.push(work(n));
  }
  await Promise.all(all);
}

async function measureBare(
  { origin }: HttpStandIn,
  receipts: Receipts,
  { events, rate }: { events: number; rate: number },
): Promise<number[]> {
  const ms: number[] = [];
  await paced(events, rate, async (n) => {
    const subject = `bare:${n}`;
    const calledAt = performance.now();
    const send = () => fetch(`${origin}/bare`, { method: 'POST', body: JSON.stringify({ subject }) });
    // An idle connection may be closed just then; that costs a second call.
    await (await send().catch(send)).text();
    ms.push((receipts.get(subject) ?? Number.NaN) - calledAt);
  });
  return ms;
}

async function measureEvents(
  database: Pool,
  wallets: readonly string[],
  receipts: Receipts,
  { events, rate }: { events: number; rate: number },
): Promise<{ ms: number[]; lost: number }> {
  const committed = new Map<string, number>();
  await paced(events, rate, async (n) => {
    const subject = `bench:${n}`;
    await database.query(APPEND, [wallets[n % wallets.length], subject]);
    if (n % wallets.length >= DEAD) committed.set(subject, performance.now());
  });
  const missing = () => [...committed.keys()].filter((subject) => !receipts.has(subject)).length;
  await until(async () => missing() === 0, 60_000).catch(() => undefined);
  const ms = [...committed].flatMap(([subject, at]) => {
    const receivedAt = receipts.get(subject);
    // The commit may be told to us after the receipt.
    return receivedAt === undefined ? [] : [Math.max(0, receivedAt - at)];
  });
  return { ms, lost: missing() };
}

/** The delivery of events to webhooks, some of which hang. */
export const suite: Suite = {
  name: 'webhooks',
  summary:
    'events from their commit to their receipt by webhooks, five of a hundred dead, against a bare fetch',
  run: (progress) => measureWebhooks({ events: EVENTS, rate: RATE }, new Sheet(progress)),
};
