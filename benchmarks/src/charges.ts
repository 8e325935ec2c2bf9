import { startChargedListings, type Round } from './charges/charge-rate.js';
import { median, Sheet, timesOf, type Suite } from './report.js';
import { startRentedAgents, type RentalModel } from './startup/rented-agents.js';
import { byTurns, type Leg } from './harness/turns.js';

const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 3);
const LISTINGS = 10;
const RUNS_PER_LISTING = 40;
const RUNS_ONE_BY_ONE = 8;
const POOL_SIZE = 4;
const WARM_UP_RUNS = 10;
const COMPARED_RUNS = 16;

async function measureCharges(sheet: Sheet): Promise<Sheet> {
  const packed: Measured[] = [];
  const alone: Measured[] = [];
  for (let count = 1; count <= ROUNDS; count += 1) {
    for (const [rounds, most] of [
      [alone, 1],
      [packed, undefined],
    ] as const) {
      sheet.progress(`Charges, round ${count} of ${ROUNDS}, ${most === 1 ? 'alone' : 'packed'}`);
      rounds.push(await onOwnChain(most));
    }
  }
  const loaded = ({ underLoad }: Measured) => underLoad;
  const unloaded = ({ oneByOne }: Measured) => oneByOne;
  const one = addRow(sheet, '20 at once of a listing, one charge in a transaction', alone.map(loaded));
  const many = addRow(sheet, '20 at once of a listing, packed', packed.map(loaded));
  addRow(sheet, 'one after another, one charge in a transaction', alone.map(unloaded));
  addRow(sheet, 'one after another, packed under load', packed.map(unloaded));
  sheet.atLeast(
    'charged runs per second, packed over one in a transaction',
    many.rate / one.rate,
    3,
    'times',
  );
  const fees = 'lamports of the authority per run, packed over one in a transaction';
  sheet.atMost(fees, many.fee / one.fee, 0.4, 'times');
  await measureLatency(sheet);
  sheet.setting = { chain: packed[0]?.chain ?? '', listings: LISTINGS };
  return sheet;
}

interface Measured {
  chain: string;
  oneByOne: Round;
  underLoad: Round;
}

/** Measures on a new chain, because Surfnet becomes slower with each transaction. */
async function onOwnChain(maxCharges: number | undefined): Promise<Measured> {
  const charged = await startChargedListings(LISTINGS);
  try {
    // Without load first, which also warms up for the round under load.
    const oneByOne = await charged.round(RUNS_ONE_BY_ONE, maxCharges, 1);
    const underLoad = await charged.round(RUNS_PER_LISTING, maxCharges);
    return { chain: charged.chainName, oneByOne, underLoad };
  } finally {
    await charged.close();
  }
}

function addRow(sheet: Sheet, what: string, rounds: readonly Round[]): { rate: number; fee: number } {
  const sum = (figure: (round: Round) => number) => rounds.reduce((total, each) => total + figure(each), 0);
  const runs = sum((each) => each.runs);
  const rate = runs / sum((each) => each.seconds);
  const fee = sum((each) => each.feeLamports) / runs;
  const waits = rounds.flatMap((each) => each.waits);
  sheet.add({ what, runs_per_second: rate, authority_lamports_per_run: fee, ...timesOf(waits) });
  return { rate, fee };
}

/** Runs the same agent under a subscription and per task, in turns, on one server with the embedded chain. */
async function measureLatency(sheet: Sheet): Promise<void> {
  sheet.progress('Starting the marketplace');
  const agents = await startRentedAgents(POOL_SIZE);
  const overheads = { subscription: [] as number[], per_query: [] as number[] };
  const run = (kind: RentalModel): Leg => ({
    run: async () => overheads[kind].push(...(await agents.run(kind, 1)).overheads),
  });
  try {
    const rounds = { rounds: ROUNDS * COMPARED_RUNS, warmUps: WARM_UP_RUNS };
    await byTurns(run('per_query'), run('subscription'), rounds);
  } finally {
    await agents.stop();
  }
  const charged = overheads.per_query.slice(WARM_UP_RUNS);
  const uncharged = overheads.subscription.slice(WARM_UP_RUNS);
  sheet.add({ what: 'whole run without its model, uncharged', ...timesOf(uncharged) });
  sheet.add({ what: 'whole run without its model, charged', ...timesOf(charged) });
  sheet.add({ what: 'added by charging', p50_ms: median(charged) - median(uncharged) });
}

/** The gain from packing charges, and the costs of a charge. */
export const suite: Suite = {
  name: 'charges',
  summary:
    'charged runs per second and fees, packed against one in a transaction; a charged run against an uncharged one',
  run: (progress) => measureCharges(new Sheet(progress)),
};
