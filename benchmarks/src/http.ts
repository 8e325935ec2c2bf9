import { cpuPerRequest, sendRequests } from './http/load.js';
import { copyListings } from './http/listings.js';
import type { BareOptions } from './http/bare-server.js';
import {
  startBareServer,
  startMeasuredMarketplace,
  type MeasuredMarketplace,
  type MeasuredServer,
} from './http/measured-server.js';
import type { RecordedQuery } from './http/probe-messages.js';
import { atMost, median, round, type Findings, type Row, type Suite, type Target } from './report.js';

const LISTINGS = 500;
const ROUNDS = 11;
const REQUESTS_PER_ROUND = 800;
const RECORDINGS = 5;
const WARM_UP_REQUESTS = 1_500;

/** What is measured, and how much more than the baseline it may cost. */
const CASES = [
  { name: 'GET /v1/credentials', path: '/v1/credentials', bearer: 'token', limit: 2 },
  { name: 'GET /v1/credentials, API key', path: '/v1/credentials', bearer: 'apiKey', limit: undefined },
  { name: 'GET /v1/listings', path: '/v1/listings', bearer: 'token', limit: 1.5 },
  { name: 'GET /v1/listings, API key', path: '/v1/listings', bearer: 'apiKey', limit: undefined },
] as const;

async function run(progress: (line: string) => void): Promise<Findings> {
  const stops: (() => Promise<void>)[] = [];
  try {
    progress('Starting the marketplace');
    const marketplace = await startMeasuredMarketplace();
    stops.push(() => marketplace.stop());
    const { credentials } = marketplace;
    const { database } = await marketplace.queriesOf('/v1/listings', credentials.token);
    await copyListings(database, LISTINGS);
    const routes: BareOptions['routes'] = {};
    for (const path of new Set(CASES.map((one) => one.path))) {
      routes[path] = await queriesOf(marketplace, path, credentials.token);
    }
    const bare = await startBareServer({ database, routes });
    stops.push(() => bare.stop());
    return await compare(marketplace, bare, credentials, progress);
  } finally {
    for (const stop of stops.toReversed()) await stop();
  }
}

/** What a request asks of the database. What runs in the background is in some recordings, and not in all. */
async function queriesOf(marketplace: MeasuredMarketplace, path: string, bearer: string) {
  const recordings: RecordedQuery[][] = [];
  for (let count = 0; count < RECORDINGS; count += 1) {
    recordings.push((await marketplace.queriesOf(path, bearer)).queries);
  }
  const [first = [], ...others] = recordings;
  return first.filter(({ text }) => others.every((queries) => queries.some((query) => query.text === text)));
}

async function compare(
  marketplace: MeasuredServer,
  bare: MeasuredServer,
  bearers: Record<'token' | 'apiKey', string>,
  progress: (line: string) => void,
): Promise<Findings> {
  for (const { name, path, bearer } of CASES) {
    progress(`Warming up ${name}`);
    for (const { url } of [marketplace, bare])
      await sendRequests(url + path, bearers[bearer], WARM_UP_REQUESTS);
  }
  const measured = CASES.map(() => ({ ours: [] as number[], baseline: [] as number[] }));
  for (let round = 1; round <= ROUNDS; round += 1) {
    progress(`Round ${round} of ${ROUNDS}`);
    for (const [index, { path, bearer }] of CASES.entries()) {
      // One after the other, so that what else the machine does falls on both.
      measured[index]?.baseline.push(await cpuPerRequest(bare, path, bearers[bearer], REQUESTS_PER_ROUND));
      measured[index]?.ours.push(await cpuPerRequest(marketplace, path, bearers[bearer], REQUESTS_PER_ROUND));
    }
  }
  const rows: Row[] = [];
  const targets: Target[] = [];
  for (const [index, { name, limit }] of CASES.entries()) {
    const { ours = [], baseline = [] } = measured[index] ?? {};
    const ratio = median(ours.map((value, at) => value / (baseline[at] ?? Number.NaN)));
    rows.push({
      request: name,
      cpu_us: round(median(ours)),
      baseline_cpu_us: round(median(baseline)),
      ratio: round(ratio),
    });
    if (limit !== undefined) targets.push(atMost(`${name}, CPU against the baseline`, ratio, limit, 'times'));
  }
  return { setting: { listings: LISTINGS, rounds: ROUNDS, requests: REQUESTS_PER_ROUND }, rows, targets };
}

/** What a request costs beside Fastify and its query: identity, limits, validation, rendering, log. */
export const suite: Suite = {
  name: 'http',
  summary: 'CPU per request against bare Fastify with the same PostgreSQL queries',
  run,
};
