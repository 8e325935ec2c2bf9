import { until } from '@agent-rental/test/support/timing/until';
import { Lane, type StepOfRun } from './lanes.js';
import type { FaultMarket, Listing } from './market.js';
import { earnCredits, holdBackground, newRequest, prepare, send, type Scenario } from './scenarios.js';

/** The steps of a run, in order. */
export interface Recording {
  readonly scenario: Scenario;
  /** Those that every recording of the run has. */
  readonly steps: readonly StepOfRun[];
  /** Those that only some have: the index is refreshed by a clock, and statuses are asked for until one is there. */
  readonly sometimes: readonly StepOfRun[];
}

/** Records the steps of a scenario's run on each of these listings, from its request until its row is at rest. */
export async function record(
  market: FaultMarket,
  scenario: Scenario,
  listings: readonly Listing[],
): Promise<Recording> {
  const rentals = await market.rentAll(listings);
  const requests = rentals.map((rental) => newRequest(scenario, rental));
  if (scenario.usesCredit) await earnCredits(market, rentals);
  for (const request of requests) await prepare(market, request);
  const lanes = rentals.map((rental) => new Lane(market.tokensOf(rental)));
  market.lanes.use(lanes);
  market.lanes.always = holdBackground;
  // One after another: runs that end together share statements, which name none of them.
  for (const request of requests) {
    await send(market, request);
    await until(() => isAtRest(market, request.rental.wallet), 20_000, 20);
  }
  market.lanes.use([]);
  market.lanes.always = () => undefined;
  const recordings = lanes.map(({ steps }) => steps);
  requireWhole(scenario, recordings);
  return stepsOfAll(scenario, recordings);
}

/** A run's first write, and its last that nothing but the run's id names. */
const LANDMARKS = [/\bstart_runs\(/, /\bfree_seat\(/];

/** @throws Error for a recording that misses a step that every run has: what is not recorded is not tried. */
function requireWhole({ name }: Scenario, recordings: readonly (readonly StepOfRun[])[]): void {
  for (const steps of recordings) {
    for (const landmark of LANDMARKS) {
      if (steps.some((step) => landmark.test(step.name))) continue;
      throw new Error(`A recording of a run that is ${name} has no step ${landmark.source}`);
    }
  }
}

/** Tells the steps that all recordings have from those that only some have. */
export function stepsOfAll(scenario: Scenario, recordings: readonly (readonly StepOfRun[])[]): Recording {
  const [first = [], ...others] = recordings;
  const keys = others.map((steps) => new Set(steps.map(keyOf)));
  const steps = first.filter((step) => !isRefresh(step) && keys.every((seen) => seen.has(keyOf(step))));
  const shared = new Set(steps.map(keyOf));
  const sometimes = new Map(
    recordings.flat().flatMap((step) => (shared.has(keyOf(step)) ? [] : [[keyOf(step), step] as const])),
  );
  return { scenario, steps, sometimes: [...sometimes.values()] };
}

/** The indexer's timer reads accounts again, also listings, which no run changes. A run itself has its balance indexed once. */
const isRefresh = ({ name, occurrence }: StepOfRun): boolean =>
  /insert into "(credentials|escrows)"|update "listings" set "rental_model"/.test(name) ||
  (occurrence > 1 && /insert into "(balances|unfinalized_accounts)"/.test(name));

const keyOf = ({ at, name, occurrence }: StepOfRun): string => `${at} ${occurrence} ${name}`;

/** Nothing of this wallet's runs is under way, and no notification or note of a delivery is missing. */
async function isAtRest(market: FaultMarket, wallet: string): Promise<boolean> {
  const [row] = await market.query<{ busy: boolean }>(
    `select exists (select from runs where wallet = $1 and status = 'running')
      or exists (select from seats where wallet = $1)
      or exists (select from charges where wallet = $1 and state in ('reserved', 'signed'))
      or exists (select from runs join charges on charges.run_id = runs.id where runs.wallet = $1
        and runs.status = 'undelivered' and not exists (select from credits where credits.run_id = runs.id)) as busy`,
    [wallet],
  );
  return row?.busy === false;
}

const WRITES = /\b(insert into|update|delete from|begin|commit|rollback|pg_notify|nextval|set_config)\b/i;
const CALLS = /\b([a-z_][a-z0-9_]*)\s*\(/gi;

/** Tells which steps write or send. What is not known to read alone counts as a write. */
export async function writingSteps(market: FaultMarket): Promise<(step: StepOfRun) => boolean> {
  const volatile = await market.query<{ name: string }>(
    `select proname as name from pg_proc join pg_namespace on pg_namespace.oid = pronamespace
      where nspname = 'public' and provolatile = 'v'`,
  );
  const names = new Set(volatile.map(({ name }) => name));
  return ({ at, name }) => {
    if (at === 'chain') return name === 'sendTransaction';
    if (!/^(select|with)\b/i.test(name) || WRITES.test(name)) return true;
    return [...name.matchAll(CALLS)].some(([, called = '']) => names.has(called.toLowerCase()));
  };
}
