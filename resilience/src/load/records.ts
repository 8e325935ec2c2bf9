import type { BusyMarketplace } from '@agent-rental/test/support/busy-marketplace';
import { until } from '@agent-rental/test/support/timing/until';
import { jsonOf } from '../run-answers.js';

export interface Sent {
  digest: string;
  left: boolean;
  status: number | undefined;
  body: string;
}

/** Charges become final some seconds after their runs, and later on a busy machine. */
const SETTLEMENT_MS = 120_000;

/** Reads a run's result from either endpoint's answer. */
export function resultOf(body: string): { status: string; output: unknown } {
  const { status = 'no done', output } = Object(jsonOf(body)) as { status?: string; output?: unknown };
  return { status, output };
}

/** Checks that every run has one record and one payment, with its answer's status. @returns the number of recorded runs. */
export async function checkRecords(
  { database }: BusyMarketplace,
  sent: readonly Sent[],
  deposited: number,
  broken: string[],
): Promise<number> {
  const areFinal = async () => {
    const open = `select from charges where state in ('reserved', 'signed', 'confirmed')`;
    return (await database.query(open)).rows.length === 0;
  };
  await until(areFinal, SETTLEMENT_MS).catch(() => broken.push('charges are not final after 120 s'));
  const { rows } = await database.query<{ digest: string; status: string; charge: string | null }>(
    `select encode(request_digest, 'hex') as digest, runs.status, coalesce(charges.state, case when credits.run_id is not null then 'confirmed' end) as charge
      from runs left join charges on charges.run_id = runs.id
        -- The credit of a failed run pays for the next run.
        left join credits on credits.used_by_run_id = runs.id where length(request_digest) = 32`,
  );
  const records = new Map<string, { status: string; charge: string | null }[]>();
  for (const row of rows) records.set(row.digest, [...(records.get(row.digest) ?? []), row]);
  for (const { digest, left, status, body } of sent) {
    const [record, ...more] = records.get(digest) ?? [];
    if (more.length > 0) broken.push('a request has two records');
    if (record?.status === 'running') broken.push('a run is still running');
    if (status === 200) {
      const told = resultOf(body).status;
      const isFault = body.includes('"error"');
      if (!isFault && record?.status !== told)
        broken.push(`answered as ${told}, recorded as ${record?.status ?? 'nothing'}`);
      if (!isFault && !['confirmed', 'finalized'].includes(record?.charge ?? ''))
        broken.push('a run was not paid');
    } else if (!left && status === 429 && record) {
      broken.push('a refused run is on record');
    }
  }
  const { rows: money } = await database.query<{ balance: string; charged: string }>(
    `select (select sum(balance_lamports) from balances join listings on listings.address = listing_address
        where listings.id like 'loaded-%') as balance,
      (select coalesce(sum(price_lamports), 0) from charges where listing_id like 'loaded-%'
        and state in ('confirmed', 'finalized', 'credited')) as charged`,
  );
  const { balance, charged } = money[0] ?? {};
  if (Number(balance) + Number(charged) !== deposited)
    broken.push(`the money does not add up: ${balance} + ${charged} of ${deposited}`);
  return rows.length;
}
