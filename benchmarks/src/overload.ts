import { createClient } from '@agent-rental/sdk';
import { createApiKey, keypairSigner, rent } from '@agent-rental/sdk/solana';
import { slowTask } from '@agent-rental/test/support/agents/slow-agents';
import { startBusyMarketplace } from '@agent-rental/test/support/busy-marketplace';
import { sendEagerly } from './overload/eager-callers.js';
import { atLeast, median, percentile, round, type Findings, type Row, type Suite } from './report.js';

/** What a listing runs at the same time. */
const SLOTS = 20;
const TIMES = 10;
/** How long the agent takes: twenty slots then make a hundred runs a second. */
const RUN_MS = 200;
const WALLETS = 10;
const PRICE_LAMPORTS = 5_000;
const LEAST = 0.8;

/** Good answers of one listing at its capacity, and with ten times as many callers, who come back at once when they are refused. */
export async function measureOverload(
  { seconds, warmUpSeconds, rounds }: { seconds: number; warmUpSeconds: number; rounds: number },
  progress: (line: string) => void,
): Promise<Findings> {
  const market = await startBusyMarketplace({
    NODE_ENV: 'production',
    SANDBOX_MIN_ISOLATION: 'runtime',
    NODE_OPTIONS: process.env['SERVER_NODE_OPTIONS'] ?? '--inspect=127.0.0.1:0',
  });
  const rows: Row[] = [];
  try {
    const listing = await market.publish('connected', 'overloaded', {
      listing: { rental_model: 'one_time', price_lamports: PRICE_LAMPORTS },
    });
    const bearers: { token: string[]; key: string[] } = { token: [], key: [] };
    for (let wallet = 0; wallet < WALLETS; wallet += 1) {
      const renter = await market.renter([], 0);
      bearers.token.push(renter.token);
      const signer = keypairSigner(renter.wallet);
      const client = createClient({ baseUrl: market.server.dev.base_url, signer });
      await rent(client, signer, listing, { max_price_lamports: PRICE_LAMPORTS });
      bearers.key.push((await createApiKey(client, signer, 'overload')).key);
    }
    let task = 0;
    const body = () => ({ agent_id: listing, task: slowTask(RUN_MS, String((task += 1))) });
    const good: Record<string, number[]> = {};
    for (const [kind, own] of Object.entries(bearers)) {
      await sendEagerly(market.server, { callers: SLOTS, seconds: warmUpSeconds, body, bearers: own });
      for (let count = 0; count < rounds; count += 1) {
        for (const callers of [SLOTS, SLOTS * TIMES]) {
          const what = `${callers} callers with a ${kind}`;
          const {
            good_ms: goodMs,
            refused_ms: refusedMs,
            ...rates
          } = await sendEagerly(market.server, {
            callers,
            seconds,
            body,
            bearers: own,
          });
          (good[what] ??= []).push(rates.good_per_s);
          rows.push({
            what,
            good_per_s: round(rates.good_per_s),
            refused_per_s: round(rates.refused_per_s),
            good_p50_ms: round(median(goodMs)),
            good_p95_ms: round(percentile(goodMs, 95)),
            ...(refusedMs.length === 0 ? {} : { refused_p50_ms: round(median(refusedMs)) }),
          });
          progress(JSON.stringify(rows.at(-1)));
        }
      }
    }
    const targets = Object.keys(bearers).map((kind) => {
      const [at, over] = [SLOTS, SLOTS * TIMES].map((callers) =>
        median(good[`${callers} callers with a ${kind}`] ?? []),
      );
      return atLeast(
        `good answers at ten times the callers, ${kind}`,
        (over ?? 0) / (at ?? 0),
        LEAST,
        'of capacity',
      );
    });
    return { setting: { run_ms: RUN_MS, slots: SLOTS, seconds, rounds }, rows, targets };
  } finally {
    await market.close();
  }
}

/** What a listing answers when far more is asked than it can do. */
export const suite: Suite = {
  name: 'overload',
  summary: 'good answers of a listing with ten times as many callers as it has slots',
  run: (progress) => measureOverload({ seconds: 10, warmUpSeconds: 3, rounds: 3 }, progress),
};
