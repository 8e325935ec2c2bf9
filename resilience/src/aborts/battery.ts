import { randomUUID } from 'node:crypto';
import { call } from '@agent-rental/test/support/http';
import {
  censusAfter,
  censusAtRest,
  requestDigest,
  RUN_PRICE,
  sendRun,
  startBusyMarketplace,
  type BusyMarketplace,
} from '@agent-rental/test/support/busy-marketplace';
import { until } from '@agent-rental/test/support/timing/until';
import { leftBehind } from '@agent-rental/test/support/processes/census';
import { Random } from '@agent-rental/test/support/random';
import { inParallel } from '@agent-rental/test/support/timing/in-parallel';
import { quantilesOf } from '@agent-rental/test/support/timing/quantiles';
import type { Renter } from '@agent-rental/test/support/renter';
import { slowTask } from '@agent-rental/test/support/agents/slow-agents';
import type { Log } from '../run-battery.js';

/** The ways to end a run before its agent has finished. */
export const WAYS = ['leave', 'leave_with_key', 'cancel_run', 'cancel_key', 'timeout'] as const;
type Way = (typeof WAYS)[number];

interface AbortOptions {
  runs: number;
  seed: number;
  concurrency: number;
  /** The longest time from a request to its abort. */
  latestAbortMs: number;
  log: Log;
}

const WORK_MS = 60_000;
const GRACE_SECONDS = 1;

/** Aborts runs at random moments in each way, and counts their leftovers. */
export async function runAbortBattery(options: AbortOptions) {
  const grace = { RECONNECT_GRACE_SECONDS: String(GRACE_SECONDS) };
  const market = await startBusyMarketplace({ ...grace, SANDBOX_POOL_SIZE: '4', QUEUE_MAX_LENGTH: '100' });
  try {
    return await battery(market, options);
  } finally {
    await market.close();
  }
}

async function battery(
  market: BusyMarketplace,
  { runs, seed, concurrency, latestAbortMs, log }: AbortOptions,
) {
  const random = new Random(seed);
  const listings = [
    await market.publish('declarative', 'slow-declarative'),
    await market.publish('connected', 'slow-connected'),
  ];
  const renter = await market.renter(listings, runs + 2);
  const { ends, stop } = await listenToEnds(market);

  // One run of each agent first, so that the first count includes everything that the server makes once and keeps.
  for (const agentId of listings) {
    const request = { agent_id: agentId, task: slowTask(0, 'warm') };
    const { status, body } = await sendRun(market, '/v1/execute', renter, request).answer;
    if (status !== 200) throw new Error(`The first run was answered ${status}: ${body}`);
  }
  const before = await censusAtRest(market);
  log(`before: ${JSON.stringify(before)}`);

  const plans = Array.from({ length: runs }, (_, index): Plan => ({
    name: `${seed}-${index}`,
    way: WAYS[index % WAYS.length] as Way,
    agentId: listings[random.chance(50) ? 0 : 1] as string,
    path: random.chance(50) ? '/v1/execute' : '/v1/execute/stream',
    abortAfterMs: random.below(latestAbortMs),
  }));
  const aborted = await inParallel(plans, concurrency, (plan) => abortOne(market, renter, plan));
  log(`${runs} runs aborted; waiting for their cleanup`);
  const after = await censusAfter(market, before);
  stop();

  /** Runs by recorded status, per way. `none`: refused before its start, so without a record. */
  const records = {} as Record<Way, Record<string, number>>;
  /** Milliseconds from the abort to the end of the cleanup, per way. */
  const gone = Object.fromEntries(WAYS.map((way) => [way, [] as number[]])) as Record<Way, number[]>;
  const broken: string[] = [];
  for (const [digest, { way, at }] of aborted) {
    const { rows } = await market.database.query<{ id: string; status: string; stop_reason: string }>(
      `select id, status, stop_reason from runs where encode(request_digest, 'hex') = $1`,
      [digest],
    );
    const [row] = rows;
    const record = row === undefined ? 'none' : [row.status, row.stop_reason].filter(Boolean).join(', ');
    records[way] = { ...records[way], [record]: (records[way]?.[record] ?? 0) + 1 };
    if (rows.length > 1) broken.push(`${rows.length} records of one request (${way})`);
    if (record === 'running' || record.startsWith('completed'))
      broken.push(`a run is on record as ${record} (${way})`);
    const endedAt = row && ends.get(row.id);
    if (endedAt !== undefined && way !== 'timeout') gone[way].push(endedAt - at);
  }
  broken.push(...leftBehind(before, after), ...(await moneyIsRight(market)));
  const gone_ms = Object.fromEntries(WAYS.map((way) => [way, quantilesOf(gone[way])]));
  return { seed, runs, records, gone_ms, before, after, broken };
}

interface Plan {
  name: string;
  way: Way;
  agentId: string;
  path: '/v1/execute' | '/v1/execute/stream';
  abortAfterMs: number;
}

/** Starts a run and aborts it. @returns the digest of its request, and the time of the abort. */
async function abortOne(
  market: BusyMarketplace,
  renter: Renter,
  { name, way, agentId, path, abortAfterMs }: Plan,
): Promise<[digest: string, { way: Way; at: number }]> {
  const body: Record<string, unknown> = { agent_id: agentId, task: slowTask(WORK_MS, name) };
  if (way === 'timeout') body['timeout_seconds'] = 1;
  const key = `abort-${name}-${randomUUID()}`;
  const sending = sendRun(market, path, renter, body, way === 'leave' ? {} : { 'idempotency-key': key });
  const cancel = (at: string, fields = {}) =>
    call(market.server, 'POST', at, { token: renter.token, body: fields });
  let at = performance.now();
  if (way === 'timeout') {
    await sending.answer;
  } else {
    await new Promise((resolve) => setTimeout(resolve, abortAfterMs));
    at = performance.now();
    if (way.startsWith('leave')) sending.leave();
    if (way === 'leave_with_key') at += GRACE_SECONDS * 1000;
    if (way === 'cancel_key') await cancel('/v1/runs/cancel', { idempotency_key: key });
    if (way === 'cancel_run') {
      // A refused run, for instance without a free sandbox, cannot be cancelled.
      let refused = false;
      void sending.answer.then(() => (refused = true));
      const found = await until(async () => {
        const { rows } = await market.database.query<{ id: string }>(
          'select id from runs where idempotency_key = $1',
          [key],
        );
        return rows[0]?.id ?? (refused && 'none');
      });
      at = performance.now();
      if (found !== 'none') await cancel(`/v1/runs/${found}/cancel`);
    }
    await sending.answer;
  }
  return [requestDigest(body), { way, at }];
}

/** The time of each run's last notification. The server sends it after the run's cleanup. */
async function listenToEnds(market: BusyMarketplace) {
  const ends = new Map<string, number>();
  const client = await market.database.connect();
  client.on('error', () => undefined);
  client.on('notification', ({ payload }) => ends.set(payload ?? '', performance.now()));
  await client.query('listen agent_rental_runs');
  return { ends, stop: () => client.release(true) };
}

/** Finds charges that are open, have no recorded run, or have a wrong price. */
async function moneyIsRight({ database }: BusyMarketplace): Promise<string[]> {
  const isSettled = async () => {
    const { rows } = await database.query<{ open: boolean }>(
      `select exists (select from charges where state in ('reserved', 'signed')) as open`,
    );
    return rows[0]?.open === false;
  };
  await until(isSettled).catch(() => undefined);
  const { rows } = await database.query<{ open: string; unrecorded: string; wrong: string }>(
    `select count(*) filter (where charges.state in ('reserved', 'signed')) as open,
        count(*) filter (where runs.id is null) as unrecorded,
        count(*) filter (where charges.price_lamports <> $1) as wrong
      from charges left join runs on runs.id = charges.run_id`,
    [RUN_PRICE],
  );
  return Object.entries(rows[0] ?? {}).flatMap(([what, count]) =>
    Number(count) > 0 ? [`${count} charges: ${what}`] : [],
  );
}
