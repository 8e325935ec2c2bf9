import { decodePerQueryBalance, DEFAULT_FEE_BPS, protocolFeeLamports } from '@agent-rental/program-client';
import { until } from '@agent-rental/test/support/timing/until';
import { call } from '@agent-rental/test/support/http';
import { auditEarnings, auditRental } from '../world/ledger-audit.js';
import type { Rental } from '@agent-rental/test/support/agents/market-agents';
import { settle } from '../world/verify.js';
import { ONE_TIME_PRICE } from './agents-on-sale.js';
import type { LoadedRenter } from './load.js';
import type { Part, Stack } from './stacks/stack.js';

/** Whose money is compared. */
export interface Audited {
  readonly name: string;
  /** What was killed. */
  readonly part: Part;
  readonly renters: readonly LoadedRenter[];
  /** Renters whose answers were not counted. */
  readonly others: readonly Rental[];
}

/** Under which name it is told what is wrong with the earnings of all. */
export const EARNINGS = 'earnings';
/** The time after which what a process that is gone left is marked as interrupted. */
const INTERRUPTED_MS = 150_000;

/**
 * Lets every charge come to its end, and compares the chain with the database, with what the API says, and with what callers were
 * answered. Gives what is wrong by the name of the audited, and of the listings' earnings and the treasury under {@link EARNINGS}.
 */
export async function auditMoney(
  stack: Stack,
  audited: readonly Audited[],
  treasuryBefore: number,
): Promise<Map<string, string[]>> {
  const perTask = audited.flatMap(({ renters, others }) => [
    ...renters.filter(({ model }) => model === 'per_query').map(({ rental }) => rental),
    ...others,
  ]);
  const books = { ...stack, rentals: perTask };
  await until(
    async () => (await stack.query(`select from runs where status = 'running'`)).length === 0,
    INTERRUPTED_MS,
    500,
  );
  await settle(stack, { timeoutMs: 120_000 });
  const wrong = new Map<string, string[]>();
  for (const { name, part, renters, others } of audited) {
    const found: string[] = [];
    for (const renter of renters) {
      const told = renter.model === 'per_query' ? await auditRental(books, renter.rental) : [];
      told.push(...(await auditAnswers(stack, part, renter)));
      if (renter.model === 'per_query') told.push(...(await auditBalance(stack, renter.rental)));
      found.push(...told.map((text) => `${renter.name}: ${text}`));
    }
    for (const rental of others) {
      found.push(...(await auditRental(books, rental)).map((text) => `prober: ${text}`));
    }
    wrong.set(name, found);
  }
  const rentals = audited.flatMap(({ renters }) => renters.filter(({ model }) => model === 'one_time'));
  const feesOfRentals = protocolFeeLamports(ONE_TIME_PRICE, DEFAULT_FEE_BPS) * BigInt(rentals.length);
  wrong.set(EARNINGS, await auditEarnings(books, treasuryBefore + Number(feesOfRentals)));
  return wrong;
}

/** Each answer is one run on record, and each run on record as delivered is an answer. */
async function auditAnswers(
  stack: Stack,
  part: Part,
  { name, model, rental, answers, failed }: LoadedRenter,
): Promise<string[]> {
  const runs = await stack.query<{ status: string; cost: string; times: number }>(
    `select status, sum(cost_lamports)::text as cost, count(*)::int as times from runs where wallet = $1 group by status`,
    [rental.wallet],
  );
  const of = (status: string) => runs.find((row) => row.status === status);
  const wrong: string[] = [];
  const delivered = of('completed')?.times ?? 0;
  // A caller without a key whose answer was on its way calls again. Where a run costs nothing, that is another run; and a replica
  // that was killed leaves no record that its callers are gone (docs/money.md).
  const mayBeUnheard =
    name.startsWith('mcp') && part === 'server' && (model === 'one_time' || stack.name === 'production');
  const unheard = delivered - answers.length;
  const isWrong = unheard < 0 || unheard > (mayBeUnheard ? 1 : 0);
  if (isWrong) wrong.push(`${answers.length} answers, ${delivered} runs are delivered`);
  if ((of('failed')?.times ?? 0) !== failed)
    wrong.push(`${failed} failures, ${of('failed')?.times ?? 0} on record`);
  const costs = answers.map(({ costLamports }) => costLamports);
  if (!costs.includes(undefined)) {
    const told = costs.reduce<bigint>((sum, cost) => sum + (cost ?? 0n), 0n);
    const onRecord = BigInt(of('completed')?.cost ?? 0);
    if (told !== onRecord) wrong.push(`told of ${told} lamports, ${onRecord} on record`);
  }
  return wrong;
}

/** The balance as the API tells it is that of the chain, once the index has followed. */
async function auditBalance(stack: Stack, { renter, listing, balanceAddress }: Rental): Promise<string[]> {
  const account = await stack.connection.getAccountInfo(balanceAddress);
  const onChain = account ? decodePerQueryBalance(account.data).balanceLamports : 0n;
  const told = async () =>
    (await call(stack, 'GET', `/v1/credentials/${listing.id}`, { token: renter.token })).body[
      'balance_lamports'
    ];
  return until(async () => (await told()) === Number(onChain), 10_000).then(
    () => [],
    async () => [`the API tells a balance of ${String(await told())}, the chain ${onChain}`],
  );
}
