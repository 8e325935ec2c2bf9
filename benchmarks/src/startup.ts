import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SandboxDriver } from '@agent-rental/sandbox';
import { readConfig } from '@agent-rental/server/config';
import { openSandboxes } from '@agent-rental/server/isolation';
import { median, percentile, Sheet, timesOf, type Suite } from './report.js';
import { benchPool, coldFirstLine, refillPerSecond, warmFirstLines } from './startup/first-line.js';
import { startRentedAgents, type RentalModel, type RequestTimes } from './startup/rented-agents.js';

/** Ready sandboxes: enough for the widest burst. */
const POOL_SIZE = 25;
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 8);
const CONCURRENCY = [1, 10, 20] as const;
/** Enough bursts that one or two disturbed ones are not the p95. */
const BURSTS_A_ROUND: Readonly<Record<number, number>> = { 1: 16, 10: 3, 20: 3 };
const COLD_STARTS_A_ROUND = 16;
const KINDS: readonly RentalModel[] = ['subscription', 'per_query'];
const WARM_UP_RUNS = 10;
/** The specification's bound of a task's start. */
const START_UP_MS = 200;

async function measureStartup(sheet: Sheet): Promise<Sheet> {
  const folder = await mkdtemp(join(tmpdir(), 'agent-rental bench '));
  const logger = { info: () => {}, warn: () => {} };
  const driver = await openSandboxes(readConfig({}).sandbox, folder, logger);
  try {
    const coldP95 = await measureSandboxes(driver, sheet);
    await driver.close();
    await measureRequests(coldP95, sheet);
    await measureFinality(sheet);
  } finally {
    await driver.close();
    await rm(folder, { recursive: true });
  }
  sheet.setting = { driver: driver.name, isolation: driver.isolation, pool_size: POOL_SIZE };
  return sheet;
}

/** Measures cold starts and takes from a pool in turns, so that the machine's other load affects both. */
async function measureSandboxes(driver: SandboxDriver, sheet: Sheet): Promise<number> {
  const pool = benchPool(driver, POOL_SIZE);
  await pool.ready();
  const cold: number[] = [];
  const warm = new Map<number, number[]>(CONCURRENCY.map((concurrent) => [concurrent, []]));
  const refills: number[] = [];
  for (let round = 1; round <= ROUNDS; round += 1) {
    sheet.progress(`Sandboxes, round ${round} of ${ROUNDS}`);
    for (const concurrent of CONCURRENCY) {
      for (let burst = 0; burst < (BURSTS_A_ROUND[concurrent] ?? 1); burst += 1) {
        warm.get(concurrent)?.push(...(await warmFirstLines(pool, POOL_SIZE, concurrent)));
      }
    }
    refills.push(await refillPerSecond(pool, POOL_SIZE));
    for (let start = 0; start < COLD_STARTS_A_ROUND; start += 1) cold.push(await coldFirstLine(driver));
  }
  await pool.close();
  const coldP95 = percentile(cold, 95);
  sheet.add({ what: 'cold start to first line', concurrent: 1, ...timesOf(cold) });
  for (const [concurrent, times] of warm) {
    sheet.add({ what: 'take to first line', concurrent, ...timesOf(times) });
    const ratio = percentile(times, 95) / coldP95;
    sheet.atMost(`take to first line at ${concurrent}, p95 over the cold p95`, ratio, 0.25, 'times');
  }
  sheet.add({ what: 'refill of a drained pool', sandboxes_per_second: median(refills), samples: ROUNDS });
  return coldP95;
}

/** Measures whole requests to a new server, to the agent's first line and to the answer. */
async function measureRequests(coldP95: number, sheet: Sheet): Promise<void> {
  sheet.progress('Starting the marketplace');
  const agents = await startRentedAgents(POOL_SIZE);
  try {
    for (const kind of KINDS) {
      for (let run = 0; run < WARM_UP_RUNS; run += 1) await agents.run(kind, 1);
      // A first burst opens the connections.
      await agents.run(kind, Math.max(...CONCURRENCY));
    }
    for (const kind of KINDS) {
      for (const concurrent of CONCURRENCY) {
        sheet.progress(`Requests, ${kind}, ${concurrent} at once`);
        const times: RequestTimes = { firstLines: [], asked: [], overheads: [] };
        for (let burst = 0; burst < ROUNDS * (BURSTS_A_ROUND[concurrent] ?? 1); burst += 1) {
          const { firstLines, asked, overheads } = await agents.run(kind, concurrent);
          times.firstLines.push(...firstLines);
          times.asked.push(...asked);
          times.overheads.push(...overheads);
        }
        const p95 = percentile(times.firstLines, 95);
        sheet.add({ what: `request to first line, ${kind}`, concurrent, ...timesOf(times.firstLines) });
        sheet.add({ what: `request until the model is asked, ${kind}`, concurrent, ...timesOf(times.asked) });
        sheet.add({ what: `whole run without its model, ${kind}`, concurrent, ...timesOf(times.overheads) });
        const name = `request to first line, ${kind}, at ${concurrent}`;
        if (concurrent === 1) sheet.atMost(`${name}, p95 over the cold p95`, p95 / coldP95, 0.5, 'times');
        sheet.atMost(`${name}, p95`, p95, START_UP_MS, 'ms');
      }
    }
  } finally {
    await agents.stop();
  }
}

/** Measures prepaid runs on a chain with fast finality and on one without, in turns. */
async function measureFinality(sheet: Sheet): Promise<void> {
  sheet.progress('Requests with and without fast finality');
  const kinds = ['alpenglow', 'tower'] as const;
  const markets = await Promise.all(
    kinds.map(async (consensus) => ({ consensus, agents: await startRentedAgents(1, consensus) })),
  );
  try {
    const times = new Map(
      kinds.map((consensus) => [consensus, { firstLines: [] as number[], whole: [] as number[] }]),
    );
    for (const { agents } of markets)
      for (let run = 0; run < WARM_UP_RUNS; run += 1) await agents.run('per_query', 1);
    for (let run = 0; run < ROUNDS * (BURSTS_A_ROUND[1] ?? 1); run += 1) {
      for (const { consensus, agents } of markets) {
        const { firstLines, overheads } = await agents.run('per_query', 1);
        times.get(consensus)?.firstLines.push(...firstLines);
        times.get(consensus)?.whole.push(...overheads);
      }
    }
    const medians = kinds.map((consensus) => {
      const { firstLines = [], whole = [] } = times.get(consensus) ?? {};
      sheet.add({ what: `request to first line, per_query, ${consensus}`, ...timesOf(firstLines) });
      sheet.add({ what: `whole run without its model, per_query, ${consensus}`, ...timesOf(whole) });
      return median(firstLines);
    });
    const [fast = Number.NaN, slow = Number.NaN] = medians;
    sheet.atMost(
      'request to first line, per_query, median with fast finality over tower',
      fast / slow,
      1.1,
      'times',
    );
  } finally {
    await Promise.all(markets.map(({ agents }) => agents.stop()));
  }
}

/** The time that a warm sandbox saves, alone and in a whole request. */
export const suite: Suite = {
  name: 'startup',
  summary: "time to an agent's first line: from the warm pool and in a whole request, against a cold start",
  run: (progress) => measureStartup(new Sheet(progress)),
};
