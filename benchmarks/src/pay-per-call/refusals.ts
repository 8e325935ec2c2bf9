import { createApiKey } from '@agent-rental/sdk/solana';
import type { BusyMarketplace } from '@agent-rental/test/support/busy-marketplace';
import { sendLoad } from '../harness/load.js';
import { newRenters } from '../harness/market.js';
import { byTurns } from '../harness/turns.js';
import { median, type Sheet, timesOf } from '../report.js';

const REFUSALS_PER_ROUND = 50;
const LIMIT_TIMES = 1.3;

/** Compares a call without credentials with one by a key that has not rented the agent. */
export async function measureRefusals(
  { server, inspector }: BusyMarketplace,
  { listing, rounds, warmUps }: { listing: string; rounds: number; warmUps: number },
  sheet: Sheet,
): Promise<void> {
  const [stranger] = await newRenters({ server }, 1, {});
  if (!stranger) throw new Error('There is no stranger.');
  const { key } = await createApiKey(stranger.client, stranger.signer, 'measured');
  const url = `${server.dev.base_url}/v1/execute`;
  const body = { agent_id: listing, task: 'refused' };
  const cpuMs = async () => {
    const { user, system } = await inspector.evaluate<NodeJS.CpuUsage>('process.cpuUsage()');
    return (user + system) / 1000;
  };
  const refusals = (status: number, bearer?: string) => {
    const ms: number[] = [];
    const run = async () => {
      let left = REFUSALS_PER_ROUND;
      await sendLoad({
        callers: 1,
        next: () => (left-- > 0 ? { url, body, ...(bearer === undefined ? {} : { bearer }) } : undefined),
        take: (answer) => {
          if (answer.status !== status) throw new Error(`${answer.status}: ${answer.text}`);
          ms.push(answer.ms);
        },
      });
    };
    return { run, cpuMs, ms };
  };
  const [asked, refused] = [refusals(402), refusals(403, key)];
  const cpu = await byTurns(asked, refused, { rounds, warmUps });
  for (const [what, { ms }, samples] of [
    ['402: no credentials', asked, cpu.ours],
    ['403: a key without a rental', refused, cpu.baseline],
  ] as const) {
    const times = timesOf(ms.slice(warmUps * REFUSALS_PER_ROUND));
    sheet.add({ what, ...times, cpu_ms: median(samples.cpuMs) / REFUSALS_PER_ROUND });
  }
  const p50 = ({ ms }: typeof asked) => median(ms.slice(warmUps * REFUSALS_PER_ROUND));
  sheet.atMost('a 402 over a 403, p50', p50(asked) / p50(refused), LIMIT_TIMES, 'times');
}
