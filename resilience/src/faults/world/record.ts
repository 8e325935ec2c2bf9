import { until } from '@agent-rental/test/support/timing/until';
import { Lane, type StepOfRun } from './lanes.js';
import type { FaultMarket, Listing } from './market.js';
import { earnCredits, newRequest, prepare, send, type Scenario } from './scenarios.js';

export interface Recording {
  readonly scenario: Scenario;
  /** The steps of every recording. */
  readonly steps: readonly StepOfRun[];
  /** The steps of some recordings. A timer refreshes the index, and the server polls for statuses. */
  readonly sometimes: readonly StepOfRun[];
}

/** Records the steps of a scenario's run on each of these listings, from its request to its last write. */
export async function record(market: FaultMarket, scenario: Scenario, listings: readonly Listing[]) {
  const rentals = await market.rentAll(listings);
  const requests = rentals.map((rental) => newRequest(scenario, rental));
  if (scenario.usesCredit) await earnCredits(market, rentals);
  for (const request of requests) await prepare(market, request);
  const lanes = rentals.map((rental) => new Lane(market.tokensOf(rental)));
  await market.lanes.during(lanes, async () => {
    // One after another: runs that end together share statements, and a shared statement has no lane.
    for (const request of requests) {
      await send(market, request);
      await until(() => isAtRest(market, request.rental.wallet), 20_000, 20);
    }
  });
  requireWhole(scenario, lanes);
  return stepsOfAll(scenario, lanes);
}

/** A run's first write, and its last write. Only the run's id identifies the last one. */
const LANDMARKS = [/\bstart_runs\(/, /\bfree_seat\(/];

/** @throws Error for a recording without a step that every run has, because the matrix plays only recorded steps. */
function requireWhole({ name }: Scenario, lanes: readonly Lane[]): void {
  for (const { steps } of lanes) {
    for (const landmark of LANDMARKS) {
      if (steps.some((step) => landmark.test(step.name))) continue;
      throw new Error(`A recording of the scenario '${name}' has no step ${landmark.source}`);
    }
  }
}

/** Separates the steps of all recordings from the steps of some. */
export function stepsOfAll(scenario: Scenario, lanes: readonly Lane[]): Recording {
  const recordings = lanes.map(({ steps }) => steps);
  const keys = recordings.map((steps) => new Set(steps.map(keyOf)));
  const steps = (recordings[0] ?? []).filter(
    (step) => !isRefresh(step) && keys.every((seen) => seen.has(keyOf(step))),
  );
  const shared = new Set(steps.map(keyOf));
  const sometimes = new Map(
    recordings.flat().flatMap((step) => (shared.has(keyOf(step)) ? [] : [[keyOf(step), step] as const])),
  );
  return { scenario, steps, sometimes: [...sometimes.values()] };
}

/** Whether a step comes from the indexer's timer, which also reads listings. A run itself indexes its balance once. */
const isRefresh = ({ name, occurrence }: StepOfRun): boolean =>
  /insert into "(credentials|escrows)"|update "listings" set "rental_model"/.test(name) ||
  (occurrence > 1 && /insert into "(balances|unfinalized_accounts)"/.test(name));

const keyOf = ({ at, name, occurrence }: StepOfRun): string => `${at} ${occurrence} ${name}`;

/** Whether this wallet has no active run, slot or open charge, and no undelivered run without its credit. */
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

/** Makes a function that finds steps that write or send. A step counts as a write unless it is known to read only. */
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
