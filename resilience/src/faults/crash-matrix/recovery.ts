import { until } from '@agent-rental/test/support/timing/until';
import { killsOf } from './matrix.js';
import { pickAll, playRows, type MatrixOptions, type PickRows, type Row } from '../world/row-matrix.js';
import { holdBackground, Lane } from '../world/lanes.js';
import { FaultMarket, type Listing } from '../world/market.js';
import type { Step } from '../proxies/step.js';
import { newRequest, PLAIN_RUN, prepare, send } from '../world/scenarios.js';
import { stepsOfAll, writingSteps } from '../world/record.js';
import type { FaultServer } from '../world/servers.js';
import { settle, verify, type Played } from '../world/verify.js';

/** The state of a run that a killed server leaves, and that the next server finishes. */
interface Remains {
  readonly name: string;
  refuses(step: Step): boolean;
  isThere(market: FaultMarket, runId: string): Promise<boolean>;
  /** When the signed transaction expires. An unsent transaction can land only before that. */
  readonly blocksPass: 'before the kill' | 'after the kill';
}

const isStatus = ({ name }: Step) => name === 'getSignatureStatuses';
const isSend = ({ name }: Step) => name === 'sendTransaction';
const isTrueOf =
  (condition: string): Remains['isThere'] =>
  async (market, runId) => {
    const query = `select from runs join charges on charges.run_id = runs.id where runs.id = $1 and ${condition}`;
    return (await market.query(query, [runId])).length === 1;
  };
const isSigned = isTrueOf(`state = 'signed'`);
const isHeldBack = isTrueOf(`outcome is not null and status = 'running'`);
const hasLanded: Remains['isThere'] = async (market, runId) => {
  const signed = 'select signature from charge_signatures where run_id = $1';
  const rows = await market.query<{ signature: string }>(signed, [runId]);
  if (rows.length === 0) return false;
  const { value } = await market.connection.getSignatureStatuses(rows.map(({ signature }) => signature));
  return value.every((status) => status !== null);
};

/** The states at the start of a recovery. */
const REMAINS: readonly Remains[] = [
  {
    name: 'delivered, its charge confirmed',
    refuses: () => false,
    isThere: isTrueOf(`state = 'confirmed'`),
    blocksPass: 'after the kill',
  },
  {
    name: 'cut off after its charge was sent',
    refuses: isStatus,
    isThere: hasLanded,
    blocksPass: 'after the kill',
  },
  {
    name: 'cut off before its charge was sent',
    refuses: isSend,
    isThere: isSigned,
    blocksPass: 'after the kill',
  },
  {
    name: 'its result held back because its charge was never sent',
    refuses: isSend,
    isThere: isHeldBack,
    blocksPass: 'before the kill',
  },
];

/** Kills a recovering server at every step that writes or sends for a run. */
export const runRecoveryMatrix = (options: RecoveryOptions) =>
  FaultMarket.use((market) => matrix(market, options));

interface RecoveryOptions extends Pick<MatrixOptions, 'pick' | 'log'> {
  /** Chooses the states at the start of a recovery. Default: all of them. */
  pickRemains?: PickRows | undefined;
}

async function matrix(market: FaultMarket, { pickRemains = pickAll, pick = pickAll, log }: RecoveryOptions) {
  const treasuryBefore = await market.connection.getBalance(market.treasury);
  const listings = await market.publish(LISTINGS);
  const writes = await writingSteps(market);
  const counts: Record<string, number> = {};
  const played: Played[] = [];
  const broken: string[] = [];
  const sometimes = new Set<string>();
  for (const remains of pickRemains(REMAINS)) {
    const recording = await recordRecovery(market, remains, listings);
    for (const { at, name } of recording.sometimes) sometimes.add(`${at} ${name}`);
    // The steps are sequential: the state after one write is the state before the next one.
    const written = killsOf(recording, writes, ['before', 'after']).filter(({ fault }) => writes(fault.step));
    const rows = written.filter(({ fault }, index) => fault.fate === 'hold' || index === written.length - 1);
    counts[remains.name] = rows.length;
    log(`${remains.name}: ${recording.steps.length} steps, ${rows.length} rows`);
    // One run at a time: runs that are recovered together share statements.
    const unreached = await playRows(pick(rows), 1, log, async (batch) => {
      const reached: boolean[] = [];
      for (const row of batch) {
        const left = await leave(market, remains, listings[played.length % listings.length] as Listing);
        reached.push(await isReachedByStart(market, row, left));
        const first = { hasOutput: remains.name.startsWith('delivered') };
        played.push({ name: row.name, request: left.request, first });
        await market.start();
        await settle(market, { runIds: [left.runId] });
      }
      return reached;
    });
    broken.push(...unreached);
  }
  const verified = await verify(market, played, treasuryBefore);
  return { rows: counts, sometimes: [...sometimes], ...verified, broken: [...broken, ...verified.broken] };
}

const LISTINGS = 4;

/** Brings a run into a state, and kills its server. */
async function leave(market: FaultMarket, remains: Remains, listing: Listing) {
  const rental = await market.rent(listing);
  market.lanes.always = (step) => holdBackground(step) ?? (remains.refuses(step) ? 'refuse' : undefined);
  const request = newRequest(PLAIN_RUN, rental);
  await prepare(market, request);
  void send(market, request).catch(() => undefined);
  const find = async () => {
    const found = 'select id from runs where wallet = $1 and idempotency_key = $2';
    return (await market.query<{ id: string }>(found, [rental.wallet, request.key]))[0]?.id;
  };
  const runId = await until(find, 20_000, 50);
  if (remains.blocksPass === 'before the kill') {
    await until(() => isSigned(market, runId), 20_000, 50);
    await market.finalize();
  }
  await until(() => remains.isThere(market, runId), 30_000, 50);
  await market.kill();
  market.lanes.always = () => undefined;
  if (remains.blocksPass === 'after the kill') await market.finalize();
  return { request, runId };
}

/** Records the steps of the server that recovers the run. */
async function recordRecovery(market: FaultMarket, remains: Remains, listings: readonly Listing[]) {
  const lanes: Lane[] = [];
  for (const listing of listings.slice(0, RECORDINGS)) {
    const left = await leave(market, remains, listing);
    const lane = laneOf(left);
    lanes.push(lane);
    market.lanes.use([lane]);
    await market.start();
    await settle(market, { runIds: [left.runId] });
    market.lanes.use([]);
  }
  return stepsOfAll({ ...PLAIN_RUN, name: remains.name }, lanes);
}

const RECORDINGS = 3;
type Left = Awaited<ReturnType<typeof leave>>;

function laneOf({ request, runId }: Left, fault?: Row['fault']): Lane {
  const { wallet, balanceAddress } = request.rental;
  const lane = new Lane([wallet, balanceAddress.toBase58()], fault);
  lane.follow(runId);
  return lane;
}

/** Starts a server that recovers the run, and kills it at the row's step. @returns whether it reached that step. */
async function isReachedByStart(market: FaultMarket, { fault }: Row, left: Left): Promise<boolean> {
  const lane = laneOf(left, fault);
  market.lanes.use([lane]);
  const starting = market.starting();
  let server: FaultServer | undefined;
  let isOver = false;
  const recover = async () => {
    server = await starting.ready;
    await settle(market, { runIds: [left.runId], isOver: () => isOver, timeoutMs: 15_000 });
  };
  // A killed start rejects.
  const settled = recover().catch(() => undefined);
  await Promise.race([lane.reached, settled]);
  isOver = true;
  await market.kill(server ?? starting);
  await settled;
  market.lanes.use([]);
  return lane.isReached;
}
