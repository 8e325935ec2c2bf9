import { until } from '@agent-rental/test/support/busy-marketplace';
import { pickAll, rowsOf, type MatrixReport, type PickRows, type Row } from '../crash-matrix/matrix.js';
import { Lane } from '../world/lanes.js';
import { FaultMarket, type Rental } from '../world/market.js';
import { record, writingSteps } from '../world/record.js';
import {
  earnCredits,
  holdBackground,
  newRequest,
  prepare,
  SCENARIOS,
  send,
  type Got,
  type Scenario,
} from '../world/scenarios.js';
import { verify, type Played } from '../world/verify.js';

/**
 * What a hostile database does with a statement: the connection breaks in its place, or in place of its answer, or the disk
 * is full (the proxy answers 53100 in place of the database, to statements that write).
 */
const DATABASE_FAULTS = ['cut', 'cut_answer', 'refuse'] as const;

export interface HostileDatabaseOptions {
  /** Runs at once, each on a listing of its own. */
  lanes: number;
  scenarios?: readonly Scenario[];
  /** Chooses the rows of a scenario to play. Default: all of them. */
  pick?: PickRows | undefined;
  log(line: string): void;
}

/** Breaks the connection at every statement of every scenario's run, and refuses every one that writes. */
export async function runHostileStatements(
  options: HostileDatabaseOptions,
): Promise<Omit<MatrixReport, 'kills'>> {
  const market = await FaultMarket.open();
  try {
    return await statements(market, options);
  } finally {
    await market.close();
  }
}

async function statements(
  market: FaultMarket,
  { lanes: laneCount, scenarios = SCENARIOS, pick = pickAll, log }: HostileDatabaseOptions,
): Promise<Omit<MatrixReport, 'kills'>> {
  const treasuryBefore = await market.connection.getBalance(market.treasury);
  const listings = await market.publish(laneCount);
  const writes = await writingSteps(market);
  const counts: Record<string, number> = {};
  const rows: Row[] = [];
  const sometimes = new Set<string>();
  for (const scenario of scenarios) {
    const recording = await record(market, scenario, listings.slice(0, RECORDINGS));
    for (const { at, name } of recording.sometimes) sometimes.add(`${at} ${name}`);
    const steps = recording.steps.filter(({ at }) => at === 'database');
    const own = rowsOf({ ...recording, steps }, writes, ['before']).flatMap((row): Row[] =>
      DATABASE_FAULTS.filter((fate) => fate === 'cut' || writes(row.fault.step)).map((fate) => ({
        ...row,
        name: row.name.replace(': before', `: ${fate}`),
        fault: { step: row.fault.step, fate },
      })),
    );
    counts[scenario.name] = own.length;
    rows.push(...pick(own));
  }
  log(`${rows.length} rows`);

  const broken: string[] = [];
  const played: Played[] = [];
  let waiting = rows.map((row, index) => ({
    row,
    listing: listings[index % laneCount] as Rental['listing'],
    tries: 0,
  }));
  while (waiting.length > 0) {
    // Statements of several runs at once are of none of them: the last try is made alone.
    const alone = waiting.find(({ tries }) => tries === MOST_TRIES - 1);
    const batch = alone ? [alone] : [...new Map(waiting.map((each) => [each.listing, each])).values()];
    const taken = new Set(batch);
    waiting = waiting.filter((each) => !taken.has(each));
    // A process notes once a minute that an agent was reached.
    if (batch.some(({ tries }) => tries > 0)) {
      await market.kill();
      await market.start();
    }
    const rentals = await market.rentAll(batch.map(({ listing }) => listing));
    await earnCredits(
      market,
      rentals.filter((_, index) => batch[index]?.row.scenario.usesCredit),
    );
    const lanes = batch.map(
      ({ row }, index) => new Lane(market.tokensOf(rentals[index] as Rental), row.fault),
    );
    const requests = batch.map(({ row }, index) => newRequest(row.scenario, rentals[index] as Rental));
    for (const request of requests) await prepare(market, request);
    market.lanes.use(lanes);
    market.lanes.always = holdBackground;
    const began = performance.now();
    const answers = requests.map((request) => send(market, request));
    await Promise.all(
      lanes.map(({ reached }, index) => Promise.race([reached, afterAnswer(answers[index], lanes[index])])),
    );
    market.lanes.always = () => undefined;
    const got = await Promise.all(answers);
    market.lanes.use([]);
    for (const [index, each] of batch.entries()) {
      const request = requests[index] as Played['request'];
      if (lanes[index]?.isReached === true) {
        played.push({ name: each.row.name, request, first: got[index] as Got });
      } else if (each.tries + 1 < MOST_TRIES) waiting.push({ ...each, tries: each.tries + 1 });
      else broken.push(`${each.row.name}: the statement was not reached`);
    }
    log(`${played.length} rows played, the last ones in ${Math.round(performance.now() - began)} ms`);
  }
  log(`${played.length} rows on one server`);
  // Runs whose end could not be written are found by the next start, as by the check of each minute.
  await market.passLeases();
  await market.kill();
  await market.start();
  const verified = await verify(market, played, treasuryBefore);
  return { rows: counts, sometimes: [...sometimes], ...verified, broken: [...broken, ...verified.broken] };
}

const RECORDINGS = 3;
const MOST_TRIES = 3;
const AFTER_ANSWER_MS = 1_500;

async function afterAnswer(answer: Promise<Got> | undefined, lane: Lane | undefined): Promise<void> {
  await answer;
  await until(async () => lane?.isReached === true, AFTER_ANSWER_MS, 10).catch(() => undefined);
}
