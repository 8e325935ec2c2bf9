import { createClient } from '@agent-rental/sdk';
import { keypairSigner, publish } from '@agent-rental/sdk/solana';
import { until } from '@agent-rental/test/support/timing/until';
import { call } from '@agent-rental/test/support/http';
import { newRenter, type Renter } from '@agent-rental/test/support/renter';
import { killsOf } from '../crash-matrix/matrix.js';
import { pickAll, playRows, type PickRows, type Row } from '../world/row-matrix.js';
import type { Step } from '../proxies/step.js';
import { Lane } from '../world/lanes.js';
import { FaultMarket } from '../world/market.js';
import { stepsOfAll, writingSteps } from '../world/record.js';
import { holdBackground } from '../world/scenarios.js';
import { isAtRest, wrongOf } from './registered.js';

/** The changes that a kill interrupts. */
const CHANGES = ['registration', 'update of a draft', 'update of a published listing'] as const;
type Change = (typeof CHANGES)[number];

/** Fewer than a server's concurrent jobs, because a held step holds its job. */
const LANES = 3;
const RECORDINGS = 3;
const REST_MS = 30_000;

export interface RegistrationOptions {
  /** Chooses the rows of a change to play. Default: all of them. */
  readonly pick?: PickRows | undefined;
  log(line: string): void;
}

export interface RegistrationReport {
  /** The number of rows of each change, played or not. */
  rows: Record<string, number>;
  /** The faults. */
  broken: string[];
}

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
export const runRegistrationMatrix = (options: RegistrationOptions): Promise<RegistrationReport> =>
  FaultMarket.use((market) => matrix(market, options));

async function matrix(
  market: FaultMarket,
  { pick = pickAll, log }: RegistrationOptions,
): Promise<RegistrationReport> {
  const writes = await writingSteps(market);
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
  market.lanes.use(lanes);
  market.lanes.always = holdBackground;
  await Promise.all(
    creators.map(async (creator) => {
      await send(market, creator);
      await until(() => isAtRest(market, creator.wallet, jobsOf(creator.listingId)), REST_MS, 20);
    }),
  );
  market.lanes.use([]);
  market.lanes.always = () => undefined;
  const scenario = { name: change, work: 'answer', isStream: false, isHot: true, usesCredit: false } as const;
  return stepsOfAll(
    scenario,
    lanes.map(({ steps }) => steps),
  );
}

/** Brings one change to each row's step, kills the server, and checks the result of the next server. */
async function playBatch(market: FaultMarket, change: Change, rows: readonly Row[]) {
  const creators = await Promise.all(rows.map(() => newCreator(market, change)));
  const lanes = creators.map((creator, index) => laneOf(creator, rows[index]));
  market.lanes.use(lanes);
  market.lanes.always = holdBackground;
  let isOver = false;
  const answers = creators.map((creator) => send(market, creator));
  await Promise.all(
    creators.map(async ({ wallet, listingId }, index) => {
      const lane = lanes[index] as Lane;
      const rested = until(
        async () => isOver || (await isAtRest(market, wallet, jobsOf(listingId))),
        REST_MS,
        20,
      );
      // A fault after the last step has no step to hold.
      await Promise.race([lane.reached, rested.then(() => lane.waited())]).catch(() => undefined);
    }),
  );
  isOver = true;
  await market.kill();
  const jobIds = await Promise.all(answers);
  market.lanes.use([]);
  market.lanes.always = () => undefined;
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
  const [listing] = await market.query<{ id: string }>('select id from listings where creator = $1', [
    wallet,
  ]);
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
  const { served, agent } = market;
  const body =
    listingId === undefined
      ? {
          name: 'matrix-agent',
          category: 'research',
          description: 'Answers at once.',
          model: { provider: 'self_hosted', model: 'stand-in', endpoint_url: agent.url },
          entrypoint_url: agent.url,
          input_schema: {},
          output_schema: { type: 'string' },
          listing: { rental_model: 'one_time', price_lamports: 1_000_000, sample_output: ['A sample.'] },
        }
      : { description: 'Answers better.' };
  const [method, path] =
    listingId === undefined
      ? (['POST', '/v1/agents'] as const)
      : (['PATCH', `/v1/agents/${listingId}`] as const);
  try {
    const answer = await call(served, method, path, { token: renter.token, body });
    const jobId = answer.body['job_id'];
    return typeof jobId === 'string' ? jobId : undefined;
  } catch {
    // The server was killed.
    return undefined;
  }
}
