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
import { leftBehind, type Census } from '@agent-rental/test/support/processes/census';
import { Random } from '@agent-rental/test/support/random';
import { inParallel } from '@agent-rental/test/support/timing/in-parallel';
import { quantilesOf, type Quantiles } from '@agent-rental/test/support/timing/quantiles';
import type { Renter } from '@agent-rental/test/support/renter';
import { slowTask } from '@agent-rental/test/support/agents/slow-agents';

/** How a run is ended before its agent is done. */
export const WAYS = ['leave', 'leave_with_key', 'cancel_run', 'cancel_key', 'timeout'] as const;
type Way = (typeof WAYS)[number];

export interface BatteryOptions {
  runs: number;
  seed: number;
  concurrency: number;
  /** The moment of an abort is drawn from this, from the request on. */
  latestAbortMs: number;
  log(line: string): void;
}

export interface BatteryReport {
  seed: number;
  runs: number;
  /** How the runs of each way are on record; `none`: refused before anything began, and forgotten. */
  records: Record<Way, Record<string, number>>;
  /** Milliseconds from the abort until nothing of the run was left, per way; a timeout's from its own time. */
  gone_ms: Record<string, Quantiles>;
  before: Census;
  after: Census;
  /** What is wrong; empty when nothing is left behind. */
  broken: string[];
}

/** The agents would be busy for this long. */
const WORK_MS = 60_000;
const GRACE_SECONDS = 1;

/** Cancels runs at random moments by each way, and counts what is left of them. */
export async function runAbortBattery(options: BatteryOptions): Promise<BatteryReport> {
  const market = await startBusyMarketplace({
    RECONNECT_GRACE_SECONDS: String(GRACE_SECONDS),
    SANDBOX_POOL_SIZE: '4',
    QUEUE_MAX_LENGTH: '100',
  });
  try {
    return await battery(market, options);
  } finally {
    await market.close();
  }
}

async function battery(market: BusyMarketplace, options: BatteryOptions): Promise<BatteryReport> {
  const { runs, seed, concurrency, latestAbortMs, log } = options;
  const random = new Random(seed);
  const listings = [
    await market.publish('declarative', 'slow-declarative'),
    await market.publish('connected', 'slow-connected'),
  ];
  const renter = await market.renter(listings, runs + 2);
  const { ends, stop } = await listenToEnds(market);

  // A run of each first: what is made once and kept is there before anything is counted.
  for (const agentId of listings) {
    const { answer } = sendRun(market, '/v1/execute', renter, {
      agent_id: agentId,
      task: slowTask(0, 'warm'),
    });
    const { status, body } = await answer;
    if (status !== 200) throw new Error(`The first run was answered ${status}: ${body}`);
  }
  const before = await censusAtRest(market);
  log(`before: ${JSON.stringify(before)}`);

  const plans = Array.from({ length: runs }, (_, index) => ({
    name: `${seed}-${index}`,
    way: WAYS[index % WAYS.length] as Way,
    agentId: listings[random.chance(50) ? 0 : 1] as string,
    path: random.chance(50) ? ('/v1/execute' as const) : ('/v1/execute/stream' as const),
    abortAfterMs: random.below(latestAbortMs),
  }));
  const aborted = await inParallel(plans, concurrency, (plan) => abortOne(market, renter, plan));
  log(`${runs} runs aborted; waiting for what is left of them`);
  const after = await censusAfter(market, before);
  stop();

  const records = {} as BatteryReport['records'];
  const gone = Object.fromEntries(WAYS.map((way) => [way, [] as number[]])) as Record<Way, number[]>;
  const broken: string[] = [];
  for (const [digest, { way, at }] of aborted) {
    const { rows } = await market.database.query<{
      id: string;
      status: string;
      stop_reason: string;
      late_ms: number;
    }>(
      `select id, status, stop_reason, extract(epoch from finished_at - created_at) * 1000 as late_ms
        from runs where encode(request_digest, 'hex') = $1`,
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
  broken.push(...leftBehind(before, after));
  broken.push(...(await moneyIsRight(market)));
  return {
    seed,
    runs,
    records,
    gone_ms: Object.fromEntries(WAYS.map((way) => [way, quantilesOf(gone[way])])),
    before,
    after,
    broken,
  };
}

interface Plan {
  name: string;
  way: Way;
  agentId: string;
  path: '/v1/execute' | '/v1/execute/stream';
  abortAfterMs: number;
}

/** Begins a run and ends it; gives the digest of its request, and when it was ended. */
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
    if (way === 'leave') sending.leave();
    if (way === 'leave_with_key') {
      sending.leave();
      at += GRACE_SECONDS * 1000;
    }
    if (way === 'cancel_key') await cancel('/v1/runs/cancel', { idempotency_key: key });
    if (way === 'cancel_run') {
      // Refused meanwhile, for instance for want of a sandbox: there is nothing to cancel.
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

/** When each run was last announced, which its end does when all of it is gone. */
async function listenToEnds(
  market: BusyMarketplace,
): Promise<{ ends: ReadonlyMap<string, number>; stop(): void }> {
  const ends = new Map<string, number>();
  const client = await market.database.connect();
  client.on('error', () => undefined);
  client.on('notification', ({ payload }) => ends.set(payload ?? '', performance.now()));
  await client.query('listen agent_rental_runs');
  return { ends, stop: () => client.release(true) };
}

/** What was prepaid is either still there or was charged for a run that is on record. */
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
