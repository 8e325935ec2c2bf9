import { until } from '@agent-rental/test/support/timing/until';
import { holdBackground, Lane, type PlannedFault, type StepOfRun } from './lanes.js';
import type { FaultMarket, Listing } from './market.js';
import type { Log } from '../../run-battery.js';
import { record, writingSteps, type Recording } from './record.js';
import { earnCredits, newRequest, prepare, SCENARIOS, send, type Scenario } from './scenarios.js';
import { verify, type Played, type Verified } from './verify.js';

export type PickRows = <T>(rows: readonly T[]) => readonly T[];

export const pickAll: PickRows = (rows) => rows;

export interface MatrixOptions {
  /** Runs that each fault interrupts, each on its own listing. */
  lanes: number;
  /** The kinds of runs. Default: all of them. */
  scenarios?: readonly Scenario[];
  /** Chooses the rows of a scenario to play. Default: all of them. */
  pick?: PickRows | undefined;
  log: Log;
}

export interface Row {
  readonly name: string;
  readonly scenario: Scenario;
  readonly fault: PlannedFault;
}

export interface MatrixReport extends Verified {
  /** The number of rows of each scenario, played or not. */
  rows: Record<string, number>;
  /** Steps of some recordings only. They have no row. */
  sometimes: string[];
}

interface MatrixPlay {
  rowsOf(recording: Recording, writes: (step: StepOfRun) => boolean): Row[];
  /** Called when all runs of a batch are at their steps, before their answers. */
  interrupt?(): Promise<unknown>;
  restart?(): Promise<unknown>;
}

const RECORDINGS = 3;
const MOST_TRIES = 3;
/** The time for a run's writes after its answer. */
const AFTER_ANSWER_MS = 1_500;

export const rowName = (scenario: string, how: string, { at, name, occurrence }: StepOfRun): string =>
  `${scenario}: ${how} ${at} ${name.slice(0, 90)} (${occurrence})`;

/** Records every kind of run, plays its rows, and checks the money. */
export async function playMatrix(
  market: FaultMarket,
  { lanes, scenarios = SCENARIOS, pick = pickAll, log }: MatrixOptions,
  play: MatrixPlay,
): Promise<MatrixReport> {
  const treasuryBefore = await market.connection.getBalance(market.treasury);
  const listings = await market.publish(lanes);
  const writes = await writingSteps(market);
  const rows: Row[] = [];
  const counts: Record<string, number> = {};
  const sometimes = new Set<string>();
  for (const scenario of scenarios) {
    const recording = await record(market, scenario, listings.slice(0, RECORDINGS));
    const own = play.rowsOf(recording, writes);
    counts[scenario.name] = own.length;
    rows.push(...pick(own));
    for (const { at, name } of recording.sometimes) sometimes.add(`${at} ${name}`);
    log(`${scenario.name}: ${recording.steps.length} steps, ${own.length} rows`);
  }
  const played: Played[] = [];
  const unreached = await playRows(rows, lanes, log, async (batch, isRetry) => {
    // A new server, because a server records at most once a minute that it reached an agent.
    if (isRetry && !play.restart) {
      await market.kill();
      await market.start();
    }
    const ends = await playBatch(market, listings, batch, play);
    played.push(...ends.filter(({ isReached }) => isReached));
    return ends.map(({ isReached }) => isReached);
  });
  // The next start, like the check of each minute, finds runs whose end could not be written.
  await market.kill();
  await market.start();
  const verified = await verify(market, played, treasuryBefore);
  return { rows: counts, sometimes: [...sometimes], ...verified, broken: [...unreached, ...verified.broken] };
}

/**
 * Plays rows in batches, and repeats rows that did not reach their step.
 *
 * @param play plays a batch, and returns for each row whether it reached its step
 * @returns descriptions of the rows that did not reach their step
 */
export async function playRows<Played extends { readonly name: string }>(
  rows: readonly Played[],
  atOnce: number,
  log: Log,
  play: (batch: readonly Played[], isRetry: boolean) => Promise<readonly boolean[]>,
): Promise<string[]> {
  const unreached: string[] = [];
  let waiting = rows.map((row) => ({ row, tries: 0 }));
  while (waiting.length > 0) {
    // The last try is alone, because a shared statement of several runs has no lane.
    const alone = waiting.find(({ tries }) => tries === MOST_TRIES - 1);
    const batch = alone ? [alone] : waiting.slice(0, atOnce);
    waiting = waiting.filter((each) => !batch.includes(each));
    const isRetry = batch.some(({ tries }) => tries > 0);
    const played = batch.map(({ row }) => row);
    const reached = await play(played, isRetry);
    for (const [index, { row, tries }] of batch.entries()) {
      if (reached[index] === true) continue;
      if (tries + 1 < MOST_TRIES) waiting.push({ row, tries: tries + 1 });
      else unreached.push(`${row.name}: the step was not reached`);
    }
    log(`${waiting.length} rows to go`);
  }
  return unreached;
}

/** Brings one run to each row's step. Each run has its own listing, which identifies its steps. */
async function playBatch(
  market: FaultMarket,
  listings: readonly Listing[],
  batch: readonly Row[],
  { interrupt, restart }: MatrixPlay,
): Promise<(Played & { isReached: boolean })[]> {
  const rentals = await market.rentAll(listings.slice(0, batch.length));
  const earning = rentals.filter((_, index) => batch[index]?.scenario.usesCredit);
  await earnCredits(market, earning);
  const runs = rentals.map((rental, index) => {
    const { name, scenario, fault } = batch[index] as Row;
    const lane = new Lane(market.tokensOf(rental), fault);
    return { name, lane, request: newRequest(scenario, rental) };
  });
  for (const { request } of runs) await prepare(market, request);
  market.lanes.use(runs.map(({ lane }) => lane));
  // Background work must not advance the runs past their steps, and must not wait for their locks.
  market.lanes.always = holdBackground;
  const answers = runs.map(async ({ lane, request }) => {
    const got = await send(market, request);
    if (got.status !== undefined) lane.answered();
    return got;
  });
  await Promise.all(
    runs.map(({ lane }, index) =>
      // A run may reach its step after its answer.
      Promise.race([lane.reached, answers[index]?.then(() => afterAnswer(lane))]),
    ),
  );
  await interrupt?.();
  market.lanes.always = () => undefined;
  const firsts = await Promise.all(answers);
  market.lanes.use([]);
  await restart?.();
  return runs.map(({ name, lane, request }, index) => {
    const first = firsts[index] ?? { hasOutput: false };
    return { name, request, first, isReached: lane.isReached };
  });
}

const afterAnswer = (lane: Lane) =>
  until(async () => lane.isReached, AFTER_ANSWER_MS, 10).catch(() => lane.waited());
