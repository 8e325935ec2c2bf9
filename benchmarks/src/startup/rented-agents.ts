import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { publish, rent } from '@agent-rental/sdk/solana';
import { textAgent } from '@agent-rental/test/support/agents/agents';
import { call, login } from '@agent-rental/test/support/http';
import {
  newStateDir,
  removeStateDir,
  startMarketplace,
  type Marketplace,
  type OwnServer,
} from '@agent-rental/test/support/marketplace';
import { newParticipant, type Participant } from '@agent-rental/test/support/participant';
import { startModelStandIn, type ModelStandIn } from '@agent-rental/test/support/agents/model-stand-in';
import { FIRST_LINES, type FirstLines } from './first-line-probe.js';
import { SETTLED_MS } from './first-line.js';

/** As it was built: a test is run from the sources. */
const PROBE = new URL('../../dist/startup/first-line-probe.js', import.meta.url);
const POLL_INTERVAL_MS = 20;
const PRICE_LAMPORTS = 250_000;
/** The runs of a burst come from several wallets: charges of one may not be open without bound. */
const RENTERS = 5;
const TERMS = {
  per_query: { deposit_lamports: 2_000 * PRICE_LAMPORTS },
  subscription: { duration_seconds: 2_592_000, max_price_lamports: PRICE_LAMPORTS },
} as const;

export type RentalModel = keyof typeof TERMS;

/** What requests took, in milliseconds. */
export interface RequestTimes {
  /** From when each was received to the first line of its agent, as the server measures it. */
  firstLines: number[];
  /** From when each was sent until the model's server was asked for it. */
  asked: number[];
  /** From when each was sent until the whole answer was there, without the model's own time. */
  overheads: number[];
}

/** A marketplace as `npm start` runs it, with a published agent of each kind, rented, and a model that answers at once. */
export interface RentedAgents {
  /** Sends as many runs at once, once the pool is full. */
  run(model: RentalModel, concurrent: number): Promise<RequestTimes>;
  stop(): Promise<void>;
}

/** Notes when the model was asked for which task, and answers. */
function answerAll(model: ModelStandIn): (task: string) => Promise<number> {
  const asked = new Map<string, (at: number) => void>();
  const listen = async (): Promise<never> => {
    for (;;) {
      const modelCall = await model.nextCall();
      const at = performance.now();
      const [task = ''] = /task-\d+-/.exec(modelCall.body) ?? [];
      modelCall.answer('An answer.');
      asked.get(task)?.(at);
    }
  };
  void listen();
  return (task) => new Promise((resolve) => asked.set(task, resolve));
}

async function publishAgent(creator: Participant, modelUrl: string, kind: RentalModel): Promise<string> {
  const { job_id: jobId } = await creator.client.registerAgent(
    textAgent(modelUrl, {
      model_key: 'a-key-of-the-bench',
      listing: { rental_model: kind, price_lamports: PRICE_LAMPORTS, sample_output: ['A sample.'] },
    }),
  );
  let job = await creator.client.getJob(jobId);
  while (job.status === 'queued') {
    await delay(POLL_INTERVAL_MS);
    job = await creator.client.getJob(jobId);
  }
  if (!job.result) throw new Error(JSON.stringify(job.error));
  await publish(creator.client, creator.signer, job.result.listing_id);
  return job.result.listing_id;
}

async function untilPoolIsFull(marketplace: Marketplace, size: number): Promise<void> {
  const full = new RegExp(String.raw`^agent_rental_sandboxes\{pool="runner",state="idle"\} ${size}$`, 'm');
  for (;;) {
    const response = await fetch(`${marketplace.dev.base_url}/metrics`);
    if (full.test(await response.text())) break;
    await delay(POLL_INTERVAL_MS);
  }
  await delay(SETTLED_MS);
}

/** What the server's metric of first lines has heard since it was last asked. */
async function firstLinesOf({ process: child }: Pick<OwnServer, 'process'>): Promise<number[]> {
  child.send(FIRST_LINES);
  for (;;) {
    const [answer] = (await once(child, 'message')) as [Partial<FirstLines>];
    if (answer.probe === FIRST_LINES) return answer.ms ?? [];
  }
}

/** Publishes an agent of each kind and rents them; gives their ids and the renters' tokens. */
async function rentAgents(
  marketplace: Marketplace,
  model: ModelStandIn,
): Promise<{ agents: Record<RentalModel, string>; tokens: string[] }> {
  const creator = await newParticipant(marketplace);
  const agents: Record<RentalModel, string> = {
    per_query: await publishAgent(creator, model.baseUrl, 'per_query'),
    subscription: await publishAgent(creator, model.baseUrl, 'subscription'),
  };
  const tokens: string[] = [];
  for (let count = 0; count < RENTERS; count += 1) {
    const { client, signer, wallet } = await newParticipant(marketplace);
    await rent(client, signer, agents.per_query, TERMS.per_query);
    await rent(client, signer, agents.subscription, TERMS.subscription);
    tokens.push(await login(marketplace, wallet));
  }
  return { agents, tokens };
}

/** Starts everything, with that many sandboxes ready. */
export async function startRentedAgents(poolSize: number): Promise<RentedAgents> {
  const stateDir = await newStateDir();
  const model = await startModelStandIn();
  const marketplace = await startMarketplace(stateDir, {
    MODEL_BASE_URL: model.baseUrl,
    MODEL_NAME: 'stand-in',
    NODE_OPTIONS: `--import ${PROBE.href}`,
    SANDBOX_POOL_SIZE: String(poolSize),
    NODE_ENV: 'production',
    SANDBOX_MIN_ISOLATION: 'runtime',
  });
  const stop = async (): Promise<void> => {
    await marketplace.stop();
    await model.close();
    await removeStateDir(stateDir);
  };
  const askedAt = answerAll(model);
  const { agents, tokens } = await rentAgents(marketplace, model).catch(async (error: unknown) => {
    await stop();
    throw error;
  });
  // Of the agents' own first runs.
  await firstLinesOf(marketplace);
  let tasks = 0;

  async function runOne(agentId: string): Promise<{ askedMs: number; overheadMs: number }> {
    tasks += 1;
    const task = `task-${tasks}-`;
    const asked = askedAt(task);
    const token = tokens[tasks % RENTERS];
    const body = { agent_id: agentId, task, input: { text: 'x'.repeat(4_096) } };
    const startedAt = performance.now();
    const { status, body: answer } = await call(marketplace, 'POST', '/v1/execute', { token, body });
    const endedAt = performance.now();
    if (status !== 200 || answer['status'] !== 'completed') throw new Error(JSON.stringify(answer));
    return { askedMs: (await asked) - startedAt, overheadMs: endedAt - startedAt };
  }

  return {
    async run(kind, concurrent) {
      await untilPoolIsFull(marketplace, poolSize);
      const times = await Promise.all(Array.from({ length: concurrent }, () => runOne(agents[kind])));
      const firstLines = await firstLinesOf(marketplace);
      if (firstLines.length !== concurrent) throw new Error(`${firstLines.length} agents said something.`);
      return {
        firstLines,
        asked: times.map(({ askedMs }) => askedMs),
        overheads: times.map(({ overheadMs }) => overheadMs),
      };
    },
    stop,
  };
}
