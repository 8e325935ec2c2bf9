import { createClient } from '@agent-rental/sdk';
import { keypairSigner, publish } from '@agent-rental/sdk/solana';
import { until } from '@agent-rental/test/support/timing/until';
import { call } from '@agent-rental/test/support/http';
import { newRenter, type Renter } from '@agent-rental/test/support/renter';
import { killsOf } from '../crash-matrix/matrix.js';
import { pickAll, playRows, type MatrixOptions, type Row } from '../world/row-matrix.js';
import type { Step } from '../proxies/step.js';
import { Lane } from '../world/lanes.js';
import { draftOf, FaultMarket } from '../world/market.js';
import { stepsOfAll, writingSteps } from '../world/record.js';
import { PLAIN_RUN } from '../world/scenarios.js';
import { CHANGED, isAtRest, wrongOf } from './registered.js';

const CHANGES = ['registration', 'update of a draft', 'update of a published listing'] as const;
type Change = (typeof CHANGES)[number];

/** Fewer than a server's concurrent jobs, because a held step holds its job. */
const LANES = 3;
const RECORDINGS = 3;
const REST_MS = 30_000;

type RegistrationOptions = Omit<MatrixOptions, 'lanes'>;

/** A creator of an interrupted change. */
interface Creator {
  readonly renter: Renter;
  readonly wallet: string;
  /** The listing of an update. */
  readonly listingId: string | undefined;
}

/**
 * Kills the server at every step of a registration and of updates, from the request to the end of the probe. Checks that the
 * next server completes the change, or that the change left nothing.
 */
export const runRegistrationMatrix = (options: RegistrationOptions) =>
  FaultMarket.use((market) => matrix(market, options));

async function matrix(market: FaultMarket, { pick = pickAll, log }: RegistrationOptions) {
  const writes = await writingSteps(market);
  /** Rows of each change, played or not. */
  const counts: Record<string, number> = {};
  const broken: string[] = [];
  for (const change of CHANGES) {
    const rows = killsOf(await recordChange(market, change), writes);
    counts[change] = rows.length;
    log(`${change}: ${rows.length} rows`);
    const unreached = await playRows(pick(rows), LANES, log, async (batch) => {
      const ends = await playBatch(market, change, batch);
      for (const [index, { wrong }] of ends.entries())
        broken.push(...wrong.map((what) => `${batch[index]?.name}: ${what}`));
      return ends.map(({ isReached }) => isReached);
    });
    broken.push(...unreached);
  }
  return { rows: counts, broken };
}

/** Records the steps of a change, several times. */
async function recordChange(market: FaultMarket, change: Change) {
  const creators = await Promise.all(Array.from({ length: RECORDINGS }, () => newCreator(market, change)));
  const lanes = creators.map((creator) => laneOf(creator));
  await market.lanes.during(lanes, () =>
    Promise.all(
      creators.map(async (creator) => {
        await send(market, creator);
        await until(() => isAtRest(market, creator.wallet, jobsOf(creator.listingId)), REST_MS, 20);
      }),
    ),
  );
  return stepsOfAll({ ...PLAIN_RUN, name: change }, lanes);
}

/** Brings one change to each row's step, kills the server, and checks the result of the next server. */
async function playBatch(market: FaultMarket, change: Change, rows: readonly Row[]) {
  const creators = await Promise.all(rows.map(() => newCreator(market, change)));
  const lanes = creators.map((creator, index) => laneOf(creator, rows[index]));
  let isOver = false;
  const jobIds = await market.lanes.during(lanes, async () => {
    const answers = creators.map((creator) => send(market, creator));
    await Promise.all(
      creators.map(async ({ wallet, listingId }, index) => {
        const lane = lanes[index] as Lane;
        const hasRested = async () => isOver || (await isAtRest(market, wallet, jobsOf(listingId)));
        // A fault after the last step has no step to hold.
        const rested = until(hasRested, REST_MS, 20).then(() => lane.waited());
        await Promise.race([lane.reached, rested]).catch(() => undefined);
      }),
    );
    isOver = true;
    await market.kill();
    return Promise.all(answers);
  });
  await market.start();
  return Promise.all(
    creators.map(async ({ wallet, listingId }, index) => {
      const isEnded = await until(() => isAtRest(market, wallet, 0), REST_MS, 50).catch(() => false);
      const isPublished = change === 'update of a published listing';
      const wrong = await wrongOf(market, { wallet, listingId, jobId: jobIds[index], isPublished });
      return {
        isReached: lanes[index]?.isReached === true,
        wrong: isEnded ? wrong : ['the change has not ended', ...wrong],
      };
    }),
  );
}

async function newCreator(market: FaultMarket, change: Change): Promise<Creator> {
  const renter = await newRenter(market.served);
  const wallet = renter.wallet.publicKey.toBase58();
  if (change === 'registration') return { renter, wallet, listingId: undefined };
  await send(market, { renter, wallet, listingId: undefined });
  await until(() => isAtRest(market, wallet, 1), REST_MS, 20);
  const made = 'select id from listings where creator = $1';
  const [listing] = await market.query<{ id: string }>(made, [wallet]);
  if (!listing) throw new Error('The registration made no listing.');
  if (change === 'update of a published listing') {
    const signer = keypairSigner(renter.wallet);
    const client = createClient({ baseUrl: market.served.dev.base_url, signer });
    await publish(client, signer, listing.id);
  }
  return { renter, wallet, listingId: listing.id };
}

/** The number of a creator's jobs after a change. An update follows a registration. */
const jobsOf = (listingId: string | undefined) => (listingId === undefined ? 1 : 2);

const laneOf = ({ wallet, listingId }: Creator, row?: Row): Lane =>
  new Lane([wallet, ...(listingId === undefined ? [] : [listingId])], row?.fault, idsOf);

const ID = /^(?:[0-9a-f]{8}-[0-9a-f-]{27}|matrix-agent-[a-z2-7]{6})$/;

/** The ids of new rows, which later steps use. */
const idsOf = ({ name, parameters }: Step): string[] =>
  name.startsWith('insert into') ? parameters.filter((text) => ID.test(text)) : [];

/** Sends a registration or an update. @returns the job's id, if an answer came */
async function send(market: FaultMarket, { renter, listingId }: Creator): Promise<string | undefined> {
  const { token } = renter;
  const answer =
    listingId === undefined
      ? call(market.served, 'POST', '/v1/agents', { token, body: draftOf(market, 'matrix-agent') })
      : call(market.served, 'PATCH', `/v1/agents/${listingId}`, { token, body: { description: CHANGED } });
  // Without an answer, the server was killed.
  const jobId = (await answer.catch(() => undefined))?.body['job_id'];
  return typeof jobId === 'string' ? jobId : undefined;
}
