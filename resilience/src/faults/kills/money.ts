import { decodePerQueryBalance, DEFAULT_FEE_BPS, protocolFeeLamports } from '@agent-rental/program-client';
import { until } from '@agent-rental/test/support/timing/until';
import { call } from '@agent-rental/test/support/http';
import { auditEarnings, auditRental } from '../world/ledger-audit.js';
import type { Rental } from '@agent-rental/test/support/agents/market-agents';
import { settle } from '../world/verify.js';
import { ONE_TIME_PRICE } from './agents-on-sale.js';
import type { LoadedRenter } from './load.js';
import type { Part, Stack } from './stacks/stack.js';

/** The renters of one kill, for the comparison of money. */
export interface Audited {
  readonly name: string;
  readonly part: Part;
  readonly renters: readonly LoadedRenter[];
  readonly others: readonly Rental[];
}

/** The key of faults in the listings' earnings and the treasury. */
export const EARNINGS = 'earnings';
/** The time within which the server marks a dead process's runs as interrupted. */
const INTERRUPTED_MS = 150_000;

/**
 * Waits for the end of every charge. Then compares the chain with the database, the API and the callers' answers.
 *
 * @returns the faults by name of the audited renters, and under {@link EARNINGS}.
 */
export async function auditMoney(stack: Stack, audited: readonly Audited[], treasuryBefore: number) {
  const perTask = audited.flatMap(({ renters, others }) => [
    ...renters.filter(({ model }) => model === 'per_query').map(({ rental }) => rental),
    ...others,
  ]);
  const books = { ...stack, rentals: perTask };
  const running = `select from runs where status = 'running'`;
  await until(async () => (await stack.query(running)).length === 0, INTERRUPTED_MS, 500);
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

/** Checks that each answer is one recorded run, and each run that is recorded as delivered is one answer. */
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
  const [delivered, failures] = [of('completed')?.times ?? 0, of('failed')?.times ?? 0];
  // An MCP caller has no key. It calls again when the kill loses its answer, and the first run stays delivered. That happens where
  // a run costs nothing, and where the killed replica did not record that its callers were gone (docs/money.md).
  const mayBeUnheard =
    name.startsWith('mcp') && part === 'server' && (model === 'one_time' || stack.name === 'production');
  const unheard = delivered - answers.length;
  const isWrong = unheard < 0 || unheard > (mayBeUnheard ? 1 : 0);
  if (isWrong) wrong.push(`${answers.length} answers, ${delivered} delivered runs`);
  if (failures !== failed) wrong.push(`${failed} failures, ${failures} on record`);
  const costs = answers.map(({ costLamports }) => costLamports);
  if (!costs.includes(undefined)) {
    const told = costs.reduce<bigint>((sum, cost) => sum + (cost ?? 0n), 0n);
    const onRecord = BigInt(of('completed')?.cost ?? 0);
    if (told !== onRecord) wrong.push(`the answers cost ${told} lamports, the recorded runs ${onRecord}`);
  }
  return wrong;
}

/** Checks that the API's balance is the chain's, after the index has caught up. */
async function auditBalance(stack: Stack, { renter, listing, balanceAddress }: Rental): Promise<string[]> {
  const account = await stack.connection.getAccountInfo(balanceAddress);
  const onChain = account ? decodePerQueryBalance(account.data).balanceLamports : 0n;
  const told = async () => {
    const { body } = await call(stack, 'GET', `/v1/credentials/${listing.id}`, { token: renter.token });
    return body['balance_lamports'];
  };
  return until(async () => (await told()) === Number(onChain), 10_000).then(
    () => [],
    async () => [`the API reports a balance of ${String(await told())}, the chain ${onChain}`],
  );
}
