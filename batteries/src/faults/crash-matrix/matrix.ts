import { until } from '@agent-rental/test/support/busy-marketplace';
import { Lane, type PlannedFault } from '../world/lanes.js';
import { FaultMarket, type Listing, type Rental } from '../world/market.js';
import { record, writingSteps, type Recording } from '../world/record.js';
import {
  earnCredits,
  holdBackground,
  newRequest,
  prepare,
  SCENARIOS,
  send,
  type Got,
  type RunRequest,
  type Scenario,
} from '../world/scenarios.js';
import { verify, type Played, type Verified } from '../world/verify.js';

/** Where a server is killed: at a step that is not handed on, one whose answer it does not get, and one whose answer it got. */
const MOMENTS = { before: 'hold', after: 'hold_answer', answered: 'hold_next' } as const;
export type Moment = keyof typeof MOMENTS;

/** Chooses some of the rows. */
export type PickRows = <T>(rows: readonly T[]) => readonly T[];

export const pickAll: PickRows = (rows) => rows;

export interface MatrixOptions {
  /** Runs that each kill interrupts, each on a listing of its own. */
  lanes: number;
  scenarios?: readonly Scenario[];
  /** Chooses the rows of a scenario to play. Default: all of them. */
  pick?: PickRows | undefined;
  log(line: string): void;
}

/** A row of the matrix. */
export interface Row {
  readonly name: string;
  readonly scenario: Scenario;
  readonly fault: PlannedFault;
}

export interface MatrixReport extends Verified {
  /** How many rows each scenario has, played or not. */
  rows: Record<string, number>;
  kills: number;
  /** Steps that only some recordings have; they have no row. */
  sometimes: string[];
}

/** The rows of a recording. A read has one: nothing is there before it that was not there after the step before. */
export function rowsOf(
  { scenario, steps }: Recording,
  writes: (step: PlannedFault['step']) => boolean,
  ofWrites: readonly Moment[] = ['before', 'after', 'answered'],
): Row[] {
  return steps.flatMap((step) => {
    const moments: readonly Moment[] = writes(step) ? ofWrites : ['before'];
    return moments.map((moment) => ({
      name: `${scenario.name}: ${moment} ${step.at} ${step.name.slice(0, 90)} (${step.occurrence})`,
      scenario,
      fault: { step, fate: MOMENTS[moment] },
    }));
  });
}

/** Kills the server at every step of every scenario's run, and shows that the money is right after the next start. */
export async function runCrashMatrix(options: MatrixOptions): Promise<MatrixReport> {
  const market = await FaultMarket.open();
  try {
    return await matrix(market, options);
  } finally {
    await market.close();
  }
}

async function matrix(market: FaultMarket, options: MatrixOptions): Promise<MatrixReport> {
  const { lanes: laneCount, scenarios = SCENARIOS, pick = pickAll, log } = options;
  const treasuryBefore = await market.connection.getBalance(market.treasury);
  const listings = await market.publish(laneCount);
  const writes = await writingSteps(market);
  const rows: Row[] = [];
  const counts: Record<string, number> = {};
  const sometimes = new Set<string>();
  for (const scenario of scenarios) {
    const recording = await record(market, scenario, listings.slice(0, RECORDINGS));
    const own = rowsOf(recording, writes);
    counts[scenario.name] = own.length;
    rows.push(...pick(own));
    for (const { at, name } of recording.sometimes) sometimes.add(`${at} ${name}`);
    log(`${scenario.name}: ${recording.steps.length} steps, ${own.length} rows`);
  }
  const rentals = await market.rentAll(rows.map((_, index) => listings[index % laneCount] as Listing));
  await earnCredits(
    market,
    rentals.filter((_, index) => rows[index]?.scenario.usesCredit),
  );
  log(`${rows.length} rows, ${laneCount} at a time`);

  const broken: string[] = [];
  const played: Played[] = [];
  let waiting = rows.map((row, index) => ({ row, rental: rentals[index] as Rental }));
  const missed = new Map<Row, number>();
  let kills = 0;
  while (waiting.length > 0) {
    // One row of each listing, since the steps of a lane are known by its listing. Statements of several runs at once are of
    // none of them: the last try is made alone.
    const alone = waiting.find(({ row }) => missed.get(row) === MOST_TRIES - 1);
    const batch = alone ? [alone] : [...new Map(waiting.map((each) => [each.rental.listing, each])).values()];
    const taken = new Set(batch);
    waiting = waiting.filter((each) => !taken.has(each));
    const ends = await playBatch(market, batch);
    kills += 1;
    for (const [index, end] of ends.entries()) {
      const { row, rental } = batch[index] as (typeof batch)[number];
      if (end.isReached) played.push({ name: row.name, ...end });
      else {
        const tries = (missed.get(row) ?? 0) + 1;
        missed.set(row, tries);
        if (tries >= MOST_TRIES) broken.push(`${row.name}: the step was not reached`);
        else waiting.push({ row, rental: await rentAgain(market, row, rental) });
      }
    }
    log(`${played.length} rows after ${kills} kills`);
  }
  const verified = await verify(market, played, treasuryBefore);
  return {
    rows: counts,
    kills,
    sometimes: [...sometimes],
    ...verified,
    broken: [...broken, ...verified.broken],
  };
}

const RECORDINGS = 3;
const MOST_TRIES = 3;

async function rentAgain(market: FaultMarket, { scenario }: Row, { listing }: Rental): Promise<Rental> {
  const rental = await market.rent(listing);
  if (scenario.usesCredit) await earnCredits(market, [rental]);
  return rental;
}

interface RowEnd {
  request: RunRequest;
  first: Got;
  isReached: boolean;
}

/** Brings one run to each row's step, kills the server, and starts the next one. */
async function playBatch(
  market: FaultMarket,
  batch: readonly { row: Row; rental: Rental }[],
): Promise<RowEnd[]> {
  const lanes = batch.map(({ row, rental }) => new Lane(market.tokensOf(rental), row.fault));
  const requests = batch.map(({ row, rental }) => newRequest(row.scenario, rental));
  for (const request of requests) await prepare(market, request);
  market.lanes.use(lanes);
  // What goes on without a request must not bring the runs further than to their steps, nor wait for their locks.
  market.lanes.always = holdBackground;
  const answers = requests.map(async (request, index) => {
    const got = await send(market, request);
    if (got.status !== undefined) lanes[index]?.answered();
    return got;
  });
  await Promise.all(
    lanes.map((lane, index) =>
      // A run that ended without coming to its step may still come to it afterwards.
      Promise.race([lane.reached, answers[index]?.then(() => afterAnswer(lane))]),
    ),
  );
  await market.kill();
  const first = await Promise.all(answers);
  market.lanes.use([]);
  market.lanes.always = () => undefined;
  await market.start();
  return requests.map((request, index) => ({
    request,
    first: first[index] ?? { hasOutput: false },
    isReached: lanes[index]?.isReached === true,
  }));
}

/** What is written after an answer follows it at once. */
async function afterAnswer(lane: Lane): Promise<void> {
  await until(async () => lane.isReached, AFTER_ANSWER_MS, 10).catch(() => lane.waited());
}

const AFTER_ANSWER_MS = 1_500;
