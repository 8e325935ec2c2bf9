import { openServerParts } from '@agent-rental/server/testing';
import { browserPath, closeSharedBrowser, openBrowser } from '@agent-rental/test/support/browser/browser';
import { call } from '@agent-rental/test/support/http';
import { newParticipant } from '@agent-rental/test/support/participant';
import { openCharts } from './charts/drawn.js';
import { seedRuns } from './charts/seed.js';
import { startMarket } from './harness/market.js';
import { timed } from './harness/turns.js';
import { median, Sheet, timesOf, type Suite } from './report.js';

const RUNS = Number(process.env['BENCH_RUNS'] ?? 1_000_000);
const ROUNDS = 31;
/** The most from the choice of a window until its charts are drawn, with the request. */
const MOST_MS = 200;

/** The numbers of a renter's charts, counted from the runs themselves. */
const PLAIN = `select date_trunc('day', finished_at, 'UTC'), listing_id, status, count(*), sum(cost_lamports) from runs
  where wallet = $1 and finished_at >= date_trunc('day', now(), 'UTC') - interval '29 days' group by 1, 2, 3`;

/** Measures the charts of a renter and of a creator with so many runs. */
export async function measureCharts(
  { runs, rounds }: { runs: number; rounds: number },
  sheet: Sheet,
): Promise<Sheet> {
  const market = await startMarket();
  const parts = openServerParts(market.databaseUrl, market.server.dev.rpc_url);
  try {
    const [creator, renter] = [await newParticipant(market.server), await newParticipant(market.server)];
    const addresses = { creator: creator.signer.address, renter: renter.signer.address };
    const { listingIds } = await seedRuns(parts, { ...addresses, runs }, sheet.progress);
    const get = async (path: string, token: string): Promise<void> => {
      const { status } = await call(market.server, 'GET', path, { token });
      if (status !== 200) throw new Error(`GET ${path} answered ${status}.`);
    };
    const plain = await repeat(rounds, () => timed(() => parts.pool.query(PLAIN, [addresses.renter])));
    sheet.add({ what: 'the same numbers by SQL over the runs', ...timesOf(plain) });
    const asked = [
      ['GET /v1/spending', '/v1/spending?window=30d', renter.token],
      ['GET /v1/earnings/stats', '/v1/earnings/stats?window=30d', creator.token],
      ['GET /v1/agents/:listing_id/stats', `/v1/agents/${listingIds[0]}/stats?window=30d`, creator.token],
    ] as const;
    for (const [what, path, token] of asked) {
      const ms = await repeat(rounds, () => timed(() => get(path, token)));
      sheet.add({ what, ...timesOf(ms) });
      sheet.atLeast(`SQL over the runs over ${what}`, median(plain) / median(ms), 10, 'times');
    }
    if (browserPath === undefined) return sheet;
    const browser = await openBrowser();
    for (const [what, path, { wallet }, drawings] of [
      ["a renter's charts", '/dashboard', renter, 4],
      ["an agent's charts", `/dashboard/creator/agents/${listingIds[0]}`, creator, 3],
    ] as const) {
      const address = new URL(path, market.server.dev.base_url).href;
      const page = await openCharts(browser, { address, wallet, drawings });
      const ms = await repeat(rounds, (round) => page.draw(round % 2 === 0 ? '30d' : '7d'));
      await page.close();
      sheet.add({ what: `${what}, asked for and drawn`, ...timesOf(ms) });
      sheet.atMost(`${what}, asked for and drawn, p95`, timesOf(ms).p95_ms, MOST_MS, 'ms');
    }
    await closeSharedBrowser();
  } finally {
    await parts.close();
    await market.close();
  }
  sheet.setting = { runs };
  return sheet;
}

async function repeat(rounds: number, once: (round: number) => Promise<number>): Promise<number[]> {
  const ms: number[] = [];
  await once(0);
  for (let round = 0; round < rounds; round += 1) ms.push(await once(round));
  return ms;
}

/** The charts of the dashboard over a long history of runs. */
export const suite: Suite = {
  name: 'charts',
  summary: 'charts of the dashboard over a million runs, against SQL over the runs',
  run: (progress) => measureCharts({ runs: RUNS, rounds: ROUNDS }, new Sheet(progress)),
};
