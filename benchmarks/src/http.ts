import { createApiKey } from '@agent-rental/sdk/solana';
import { call } from '@agent-rental/test/support/http';
import { insertCopies } from './harness/copies.js';
import type { BareOptions } from './http/bare-server.js';
import { requireGood, sendLoad } from './harness/load.js';
import { newRenters, startMarket } from './harness/market.js';
import { startProcess } from './harness/measured-process.js';
import { median, Sheet, type Suite } from './report.js';
import { recordStatements } from './harness/sent-statements.js';
import { byTurns, ratioOf } from './harness/turns.js';

const LISTINGS = 500;
const ROUNDS = 11;
const REQUESTS_PER_ROUND = 800;
const WARM_UP_ROUNDS = 2;
/** Concurrent requests. */
const CONCURRENCY = 10;
/** How long background statements are recorded. */
const BACKGROUND_SECONDS = 10;
const PRICE_LAMPORTS = 5_000;

/** The measured requests, with their largest ratio to the baseline. */
const CASES = [
  { name: 'GET /v1/credentials', path: '/v1/credentials', bearer: 'token', limit: 2 },
  { name: 'GET /v1/credentials, API key', path: '/v1/credentials', bearer: 'apiKey', limit: undefined },
  { name: 'GET /v1/listings', path: '/v1/listings', bearer: 'token', limit: 1.5 },
  { name: 'GET /v1/listings, API key', path: '/v1/listings', bearer: 'apiKey', limit: undefined },
] as const;

async function measureHttp(sheet: Sheet): Promise<Sheet> {
  const market = await startMarket();
  const stops: (() => Promise<void>)[] = [() => market.close()];
  try {
    const listing = await market.publish('connected', 'measured', {
      listing: { rental_model: 'one_time', price_lamports: PRICE_LAMPORTS },
    });
    const [renter] = await newRenters(market, 1, { [listing]: { max_price_lamports: PRICE_LAMPORTS } });
    if (!renter) throw new Error('There is no renter.');
    const { key: apiKey } = await createApiKey(renter.client, renter.signer, 'measured');
    const bearers = { token: renter.token, apiKey };
    // Enough listings for a full page of the search.
    const changes = `'id', 'copy-' || translate(lpad(n::text, 6, '0'), '0189', 'abcd'), 'address', 'copy-' || n`;
    const from = `from listings original, generate_series(1, $2::int) n where original.id = $1`;
    await insertCopies(market.database, 'listings', changes, from, [listing, LISTINGS]);
    await market.database.query('analyze');
    const routes: BareOptions['routes'] = {};
    for (const path of new Set(CASES.map((one) => one.path))) {
      const get = () => call(market.server, 'GET', path, { token: renter.token });
      const { answer, statements } = await recordStatements(market, get, BACKGROUND_SECONDS);
      if (answer.status !== 200) throw new Error(`GET ${path} answered ${answer.status}.`);
      routes[path] = statements;
    }
    const options: BareOptions = { databaseUrl: market.databaseUrl, routes };
    const bare = await startProcess<{ url: string }>('http/bare-server.js', options);
    stops.push(() => bare.stop());
    const cpuOfServer = async () => {
      const { user, system } = await market.inspector.evaluate<NodeJS.CpuUsage>('process.cpuUsage()');
      return (user + system) / 1000;
    };
    for (const { name, path, bearer, limit } of CASES) {
      const requests = (baseUrl: string) => () => sendGets(baseUrl + path, bearers[bearer]);
      const measured = await byTurns(
        { run: requests(market.server.dev.base_url), cpuMs: cpuOfServer },
        { run: requests(bare.url), cpuMs: bare.cpuMs },
        { rounds: ROUNDS, warmUps: WARM_UP_ROUNDS },
      );
      const [ours, baseline] = [measured.ours, measured.baseline].map(({ cpuMs }) =>
        cpuMs.map((ms) => (ms * 1000) / REQUESTS_PER_ROUND),
      ) as [number[], number[]];
      const ratio = ratioOf(ours, baseline);
      sheet.add({ request: name, cpu_us: median(ours), baseline_cpu_us: median(baseline), ratio });
      if (limit !== undefined) sheet.atMost(`${name}, CPU against the baseline`, ratio, limit, 'times');
    }
    sheet.setting = { listings: LISTINGS, rounds: ROUNDS, requests: REQUESTS_PER_ROUND };
    return sheet;
  } finally {
    for (const stop of stops.toReversed()) await stop();
  }
}

async function sendGets(url: string, bearer: string): Promise<void> {
  let left = REQUESTS_PER_ROUND;
  await sendLoad({
    callers: CONCURRENCY,
    next: () => (left-- > 0 ? { url, bearer } : undefined),
    take: requireGood,
  });
}

/** The costs of a request in addition to Fastify and its query: identity, limits, validation, rendering, log. */
export const suite: Suite = {
  name: 'http',
  summary: 'CPU per request against bare Fastify with the same PostgreSQL queries',
  run: (progress) => measureHttp(new Sheet(progress)),
};
