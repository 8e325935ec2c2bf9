import { requestDigest } from '@agent-rental/test/support/busy-marketplace';
import { until } from '@agent-rental/test/support/timing/until';
import { finalizeChain } from '@agent-rental/test/support/replicas/market-chain';
import type { ReplicaMarket } from '@agent-rental/test/support/replicas/replica-market';
import { auditEarnings, auditRental } from '../faults/world/ledger-audit.js';
import { reconcile } from '../faults/world/reconcile.js';
import type { AskedRun } from './caller.js';

/** Leases of a killed replica expire within a minute, and its runs end after that. */
const REST_MS = 240_000;

/** Waits for the end of all work. @returns the unfinished work after {@link REST_MS}. */
export async function rest(market: ReplicaMarket): Promise<string[]> {
  let last: Record<string, number> = {};
  const isAtRest = async () => {
    [last = {}] = await market.query<Record<string, number>>(
      `select (select count(*) from runs where status = 'running')::integer as running,
        (select count(*) from seats where expires_at > now())::integer as slots,
        (select count(*) from seat_line where expires_at > now())::integer as waiting,
        (select count(*) from charges where state in ('reserved', 'signed', 'confirmed'))::integer as charges,
        (select count(*) from graphile_worker.jobs
          where run_at <= now() and locked_at is null and attempts < max_attempts)::integer as tasks`,
    );
    if (Object.values(last).every((count) => count === 0)) return true;
    if (last['charges'] !== 0) await finalizeChain(market.chain);
    return false;
  };
  await until(isAtRest, REST_MS, 500).catch(() => undefined);
  return Object.entries(last).flatMap(([what, count]) => (count > 0 ? [`${count} ${what} are left`] : []));
}

/** Each fault once, at most 50. */
export const told = (broken: readonly string[]): string[] => [...new Set(broken)].slice(0, 50);

interface RunRow {
  id: string;
  digest: string;
  status: string;
  cost_lamports: bigint;
  stop_reason: string | null;
  error: { message: string } | null;
}

/** Compares the callers' answers with the records: each answered run has one record, and all accepted runs have ended. */
export async function compareRecords(market: ReplicaMarket, asked: readonly AskedRun[]) {
  const rows = await market.query<RunRow>(
    `select id, encode(request_digest, 'hex') as digest, status, cost_lamports, stop_reason, error from runs
      where length(request_digest) = 32`,
  );
  const byDigest = new Map<string, RunRow[]>();
  for (const row of rows) byDigest.set(row.digest, [...(byDigest.get(row.digest) ?? []), row]);
  const wrong: string[] = [];
  /** The errors of runs without a result. A repeated request started another run. */
  const reasons: string[] = [];
  for (const { body, key, name, told: answers, isCancelled } of asked) {
    const records = byDigest.get(requestDigest(body)) ?? [];
    byDigest.delete(requestDigest(body));
    const ended = records.filter(({ status }) => status === 'completed' || status === 'failed');
    const undelivered = records.filter(({ status }) => status === 'undelivered');
    for (const { stop_reason: reason, error } of undelivered)
      if (reason === null) reasons.push(error?.message ?? 'no reason');
    if (ended.length + undelivered.length < records.length) wrong.push(`run ${name} has not ended`);
    if (ended.length > 1) wrong.push(`run ${name} was delivered ${ended.length} times`);
    const [first] = answers;
    if (first === undefined) {
      if (key !== undefined && !isCancelled) wrong.push(`run ${name} has no answer`);
      continue;
    }
    const [record] = ended;
    if (record === undefined) wrong.push(`run ${name} was answered and is not on record`);
    else if (
      first.run_id !== '' &&
      (record.id !== first.run_id || Number(record.cost_lamports) !== first.cost_lamports)
    )
      wrong.push(`run ${name} was answered as ${first.run_id} and is on record as ${record.id}`);
  }
  if (byDigest.size > 0) wrong.push(`${byDigest.size} recorded runs had no request`);
  return { onRecord: rows.length, madeGood: reasons.length, reasons, wrong };
}

/** Compares every charge with the chain: transactions, balances, earnings, treasury, and the result of `npm run reconcile`. */
export async function compareMoney(market: ReplicaMarket, treasuryBefore: number): Promise<string[]> {
  const wrong: string[] = [];
  for (const rental of market.rentals) wrong.push(...(await auditRental(market, rental)));
  wrong.push(...(await auditEarnings(market, treasuryBefore)));
  const differences = await reconcile(market);
  if (differences.length > 0) wrong.push(`npm run reconcile finds ${JSON.stringify(differences)}`);
  return wrong;
}
