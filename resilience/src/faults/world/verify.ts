import { inParallel } from '@agent-rental/test/support/timing/in-parallel';
import { until } from '@agent-rental/test/support/timing/until';
import { accountOf, auditEarnings, auditRental } from './ledger-audit.js';
import { RUN_PRICE, type FaultMarket } from './market.js';
import { repeat, type Got, type RunRequest } from './scenarios.js';

export interface Played {
  readonly name: string;
  readonly request: RunRequest;
  readonly first: Got;
}

export interface Verified {
  /** Counts by the statuses of the first request and of its repeat. */
  outcomes: Record<string, number>;
  /** Rows whose stream was cut after the server recorded its output, and before the caller got any. */
  unheard: string[];
  broken: string[];
}

/** Settles all charges, repeats each request with its key, and compares the callers' answers with the chain. */
export async function verify(market: FaultMarket, played: readonly Played[], treasuryBefore: number) {
  const outcomes: Record<string, number> = {};
  const broken: string[] = [];
  const unheard: string[] = [];
  await market.passLeases();
  await settle(market);
  // From now on the agent answers all tasks.
  market.agent.isDown = false;
  await inParallel(played, 10, async ({ name, request, first }) => {
    const { wrong, isUnheard } = await repeatAndAudit(market, request, first, outcomes);
    if (isUnheard) unheard.push(name);
    broken.push(...wrong.map((what) => `${name}: ${what}`));
  });
  await settle(market);
  for (const { name, request } of played) {
    broken.push(...(await auditRental(market, request.rental)).map((what) => `${name}: ${what}`));
  }
  broken.push(...(await auditEarnings(market, treasuryBefore)));
  market.agent.isDown = true;
  return { outcomes, unheard, broken };
}

/** Advances the chain until no charge is open, of these runs or of all. */
export async function settle(
  market: Pick<FaultMarket, 'query' | 'finalize'>,
  options: { runIds?: readonly string[]; isOver?: () => boolean; timeoutMs?: number } = {},
): Promise<void> {
  const { runIds, isOver = () => false, timeoutMs = 60_000 } = options;
  const isSettled = async () => {
    if (isOver()) return true;
    await market.query(
      `update charges set next_attempt_at = now() where state in ('signed', 'confirmed') and next_attempt_at > now()`,
    );
    const open = await market.query(
      `select 1 from charges where state in ('reserved', 'signed', 'confirmed') and ($1::uuid[] is null or run_id = any ($1))`,
      [runIds ?? null],
    );
    return open.length === 0;
  };
  const deadline = performance.now() + timeoutMs;
  while (!(await isSettled())) {
    if (performance.now() > deadline) throw new Error('Charges are still open.');
    await market.finalize();
    // A new signature of a charge has this time to land.
    await until(isSettled, ROUND_MS, 50).catch(() => undefined);
  }
}

/** A little longer than the server's interval between two checks of open charges. */
const ROUND_MS = 2_500;

/** Repeats the request with the same key, and checks that the caller paid one price for one answer. */
async function repeatAndAudit(
  market: FaultMarket,
  request: RunRequest,
  first: Got,
  outcomes: Record<string, number>,
): Promise<{ wrong: string[]; isUnheard: boolean }> {
  const { scenario, rental } = request;
  const again = await repeat(market, request);
  const outcome = `first ${first.status ?? 'cut'}, then ${again.status ?? 'cut'}`;
  outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
  if (again.status !== 200) {
    const isRefused = scenario.ends === 'cancel' && again.status === 400;
    const told = `the repeat was answered ${again.status}: ${JSON.stringify(again.body)}`;
    return { wrong: isRefused ? [] : [told], isUnheard: false };
  }
  const { debitedLamports, runs } = await accountOf(market, rental);
  // A run whose output was cut by the server's death is charged, and its repeat is another run.
  const cut = runs.filter(({ status, output_left }) => status === 'undelivered' && output_left).length;
  const lost = runs.filter(({ state }) => state === 'lost').length;
  const expected = RUN_PRICE * BigInt(1 + cut - lost);
  const wrong =
    debitedLamports === expected ? [] : [`the answer cost ${debitedLamports} lamports and not ${expected}`];
  return { wrong, isUnheard: cut > 0 && !first.hasOutput };
}
