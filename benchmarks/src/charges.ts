import { startChargedListings, type Round } from './charges/charge-rate.js';
import { atLeast, atMost, median, percentile, round, type Findings, type Row, type Suite } from './report.js';
import { startRentedAgents, type RentalModel } from './startup/rented-agents.js';

const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 3);
const LISTINGS = 10;
const RUNS_PER_LISTING = 40;
const RUNS_ONE_BY_ONE = 8;
const POOL_SIZE = 4;
const WARM_UP_RUNS = 10;
const COMPARED_RUNS = 16;
const KINDS: readonly RentalModel[] = ['subscription', 'per_query'];

async function run(progress: (line: string) => void): Promise<Findings> {
  const packed: Measured[] = [];
  const alone: Measured[] = [];
  // In turns, so that what else the machine does falls on both.
  for (let count = 1; count <= ROUNDS; count += 1) {
    for (const [rounds, most] of [
      [alone, 1],
      [packed, undefined],
    ] as const) {
      progress(`Charges, round ${count} of ${ROUNDS}, ${most === 1 ? 'alone' : 'packed'}`);
      rounds.push(await onChainOfItsOwn(most));
    }
  }
  const loaded = ({ underLoad }: Measured) => underLoad;
  const unloaded = ({ oneByOne }: Measured) => oneByOne;
  const aloneRow = rowOf('20 at once of a listing, one charge in a transaction', alone.map(loaded));
  const packedRow = rowOf('20 at once of a listing, packed', packed.map(loaded));
  const idleAlone = rowOf('one after the other, one charge in a transaction', alone.map(unloaded));
  const idlePacked = rowOf('one after the other, packed where there is load', packed.map(unloaded));
  const latency = await addedLatency(progress);
  return {
    setting: { chain: packed[0]?.chain ?? '', listings: LISTINGS },
    rows: [aloneRow.row, packedRow.row, idleAlone.row, idlePacked.row, ...latency],
    targets: [
      atLeast(
        'charged runs per second, packed over one in a transaction',
        packedRow.rate / aloneRow.rate,
        3,
        'times',
      ),
      atMost(
        'lamports of the authority per run, packed over one in a transaction',
        packedRow.fee / aloneRow.fee,
        0.4,
        'times',
      ),
    ],
  };
}

interface Measured {
  chain: string;
  oneByOne: Round;
  underLoad: Round;
}

/** Surfnet becomes slower with each transaction that it has seen, so each round has one of its own. */
async function onChainOfItsOwn(maxCharges: number | undefined): Promise<Measured> {
  const charged = await startChargedListings(LISTINGS);
  try {
    // Without load first: what is ready needs no warming up for the other.
    const oneByOne = await charged.round(RUNS_ONE_BY_ONE, maxCharges, 1);
    const underLoad = await charged.round(RUNS_PER_LISTING, maxCharges);
    return { chain: charged.chainName, oneByOne, underLoad };
  } finally {
    await charged.close();
  }
}

function rowOf(what: string, rounds: readonly Round[]): { row: Row; rate: number; fee: number } {
  const runs = rounds.reduce((sum, each) => sum + each.runs, 0);
  const seconds = rounds.reduce((sum, each) => sum + each.seconds, 0);
  const fee = rounds.reduce((sum, each) => sum + each.feeLamports, 0) / runs;
  const waits = rounds.flatMap((each) => each.waits);
  const row = {
    what,
    runs_per_second: round(runs / seconds),
    authority_lamports_per_run: round(fee),
    p50_ms: round(median(waits)),
    p95_ms: round(percentile(waits, 95)),
    samples: runs,
  };
  return { row, rate: runs / seconds, fee };
}

/** The same agent, run under a subscription and per task, in turns, by a server of its own with the embedded chain. */
async function addedLatency(progress: (line: string) => void): Promise<Row[]> {
  progress('Starting the marketplace');
  const agents = await startRentedAgents(POOL_SIZE);
  const times = new Map<RentalModel, number[]>(KINDS.map((kind) => [kind, []]));
  try {
    for (const kind of KINDS) {
      for (let count = 0; count < WARM_UP_RUNS; count += 1) await agents.run(kind, 1);
    }
    for (let count = 0; count < ROUNDS * COMPARED_RUNS; count += 1) {
      for (const kind of KINDS) times.get(kind)?.push(...(await agents.run(kind, 1)).overheads);
    }
  } finally {
    await agents.stop();
  }
  const [uncharged = [], perTask = []] = KINDS.map((kind) => times.get(kind) ?? []);
  const rowFor = (what: string, values: readonly number[]): Row => ({
    what,
    p50_ms: round(median(values)),
    p95_ms: round(percentile(values, 95)),
    samples: values.length,
  });
  return [
    rowFor('whole run without its model, uncharged', uncharged),
    rowFor('whole run without its model, charged', perTask),
    { what: 'added by charging', p50_ms: round(median(perTask) - median(uncharged)) },
  ];
}

/** What packing gains, and what charging costs. */
export const suite: Suite = {
  name: 'charges',
  summary:
    'charged runs per second and fees, packed against one in a transaction; a charged run against an uncharged one',
  run,
};
