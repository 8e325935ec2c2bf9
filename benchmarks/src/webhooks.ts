import { setTimeout as delay } from 'node:timers/promises';
import type { WalletEvent } from '@agent-rental/contract';
import { readBody, startHttpStandIn, type HttpStandIn } from '@agent-rental/server/testing';
import { call } from '@agent-rental/test/support/http';
import { sellAgent } from '@agent-rental/test/support/agents/market-agents';
import { newParticipant } from '@agent-rental/test/support/participant';
import { until } from '@agent-rental/test/support/timing/until';
import type { Pool } from 'pg';
import { newRenters, startMarket } from './harness/market.js';
import { percentile, Sheet, timesOf, type Suite } from './report.js';

const EVENTS = Number(process.env['BENCH_EVENTS'] ?? 10_000);
/** Events a second: more than a busy market has. */
const RATE = Number(process.env['BENCH_RATE'] ?? 200);
const ENDPOINTS = 100;
/** Endpoints that take each request and never answer. */
const DEAD = 5;
/** The most from the commit of an event to its receipt at a living endpoint. */
const MOST_MS = 2_000;
/** The largest ratio of an honest run's start beside deliveries to its start beside the bare `fetch`. */
const MOST_START_RATIO = 1.2;
/** Between two honest runs. */
const TURN_MS = 100;
const PRICE_LAMPORTS = 250_000;
const APPEND = `select append_event($1, 'key.created', $2, '{"key_id": "0198c0de-5a1e-4f00-8000-000000000001", "label": "bench", "scopes": []}')`;

/** The agent of the honest runs, at the living endpoint. */
const AGENT_PATH = '/agent';

/** When something reached a living endpoint, by the subject of its event. */
type Receipts = Map<string, number>;

/** Measures from the commit of an event to its receipt, and from the call of a bare `fetch` to its receipt at the same pace. */
export async function measureWebhooks(
  { events, rate }: { events: number; rate: number },
  sheet: Sheet,
): Promise<Sheet> {
  const receipts: Receipts = new Map();
  const starts = new Map<string, number>();
  let copies = 0;
  const living = await startHttpStandIn(async (request, response) => {
    const body = await readBody(request);
    if (request.url === AGENT_PATH) {
      starts.set((JSON.parse(body) as { task: string }).task, performance.now());
      response.writeHead(200, { 'content-type': 'application/json' }).end('"done"');
      return;
    }
    const { subject } = JSON.parse(body) as WalletEvent;
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
    const creator = await newParticipant(market.server);
    const { id: agent_id } = await sellAgent(creator, 'connected', living.origin + AGENT_PATH, {
      listing: { rental_model: 'one_time', price_lamports: PRICE_LAMPORTS },
    });
    const [renter] = await newRenters(market, 1, { [agent_id]: { max_price_lamports: PRICE_LAMPORTS } });
    const startOf = async (task: string): Promise<number> => {
      const calledAt = performance.now();
      await renter?.client.execute({ agent_id, task });
      return (starts.get(task) ?? Number.NaN) - calledAt;
    };
    await whileRunning('warm-up', startOf, delay(3_000));
    const bare = measureBare(living, receipts, { events, rate });
    const quietStarts = await whileRunning('quiet', startOf, bare);
    sheet.add({ what: 'bare fetch, called to received', ...timesOf(await bare) });
    const delivered = measureEvents(market.database, wallets, receipts, { events, rate });
    const busyStarts = await whileRunning('busy', startOf, delivered);
    const { ms, lost } = await delivered;
    sheet.add({ what: 'event, committed to received', ...timesOf(ms), lost, copies });
    sheet.add({ what: 'start of a run, beside the bare fetch', ...timesOf(quietStarts) });
    sheet.add({ what: 'start of a run, beside deliveries', ...timesOf(busyStarts) });
    const ratio = percentile(busyStarts, 50) / percentile(quietStarts, 50);
    sheet.atMost('start of a run beside deliveries, p50 ratio', ratio, MOST_START_RATIO, '');
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

/** Runs the agent, one run after another, while something else goes on. @returns the milliseconds to each start */
async function whileRunning(
  name: string,
  startOf: (task: string) => Promise<number>,
  other: Promise<unknown>,
): Promise<number[]> {
  const ended = new AbortController();
  const end = other.finally(() => ended.abort());
  const ms: number[] = [];
  while (!ended.signal.aborted) {
    ms.push(await startOf(`${name} ${ms.length}`));
    await delay(TURN_MS);
  }
  await end;
  return ms;
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
