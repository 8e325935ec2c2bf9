import { createApiKey } from '@agent-rental/sdk/solana';
import { slowTask } from '@agent-rental/test/support/agents/slow-agents';
import { requireGood, sendLoad } from './harness/load.js';
import { newRenters, startMarket } from './harness/market.js';
import { median, percentile, Sheet, type Suite } from './report.js';

/** Concurrent runs of a listing. */
const SLOTS = 20;
const TIMES = 10;
/** The time of a run. Twenty slots then make a hundred runs per second. */
const RUN_MS = 200;
const WALLETS = 10;
const PRICE_LAMPORTS = 5_000;
const LEAST = 0.8;

/** Measures good answers of one listing at its capacity and with ten times the callers. Refused callers retry at once. */
export async function measureOverload(
  { seconds, warmUpSeconds, rounds }: { seconds: number; warmUpSeconds: number; rounds: number },
  sheet: Sheet,
): Promise<Sheet> {
  const market = await startMarket();
  try {
    const listing = await market.publish('connected', 'overloaded', {
      listing: { rental_model: 'one_time', price_lamports: PRICE_LAMPORTS },
    });
    const renters = await newRenters(market, WALLETS, { [listing]: { max_price_lamports: PRICE_LAMPORTS } });
    const keys = renters.map(({ client, signer }) => createApiKey(client, signer, 'overload'));
    const bearers = {
      token: renters.map(({ token }) => token),
      key: (await Promise.all(keys)).map(({ key }) => key),
    };
    const url = `${market.server.dev.base_url}/v1/execute`;
    let task = 0;
    const answersTo = async (own: readonly string[], callers: number, forSeconds: number) => {
      const end = performance.now() + forSeconds * 1_000;
      const good: number[] = [];
      const refused: number[] = [];
      await sendLoad({
        callers,
        next(caller) {
          if (performance.now() >= end) return undefined;
          const body = { agent_id: listing, task: slowTask(RUN_MS, String((task += 1))) };
          return { url, bearer: own[caller % own.length] ?? '', body };
        },
        take(answer) {
          if (answer.status === 429) refused.push(answer.ms);
          else {
            requireGood(answer, '"completed"');
            good.push(answer.ms);
          }
        },
      });
      return { good, refused };
    };
    for (const [kind, own] of Object.entries(bearers)) {
      await answersTo(own, SLOTS, warmUpSeconds);
      const rates = new Map<number, number[]>([SLOTS, SLOTS * TIMES].map((callers) => [callers, []]));
      for (let round = 0; round < rounds; round += 1) {
        for (const [callers, rate] of rates) {
          const { good, refused } = await answersTo(own, callers, seconds);
          rate.push(good.length / seconds);
          sheet.add({
            what: `${callers} callers with a ${kind}`,
            good_per_s: good.length / seconds,
            refused_per_s: refused.length / seconds,
            good_p50_ms: median(good),
            good_p95_ms: percentile(good, 95),
            ...(refused.length === 0 ? {} : { refused_p50_ms: median(refused) }),
          });
        }
      }
      const [at, over] = [...rates.values()].map(median) as [number, number];
      sheet.atLeast(`good answers at ten times the callers, ${kind}`, over / at, LEAST, 'of capacity');
    }
    sheet.setting = { run_ms: RUN_MS, slots: SLOTS, seconds, rounds };
    return sheet;
  } finally {
    await market.close();
  }
}

/** A listing's good answers under overload. */
export const suite: Suite = {
  name: 'overload',
  summary: 'good answers of a listing with ten times as many callers as slots',
  run: (progress) => measureOverload({ seconds: 10, warmUpSeconds: 3, rounds: 3 }, new Sheet(progress)),
};
