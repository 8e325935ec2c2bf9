import { setTimeout as delay } from 'node:timers/promises';
import { elsewhere } from '@agent-rental/test/support/replicas/replica-market';
import { slowAnswer, slowTask } from '@agent-rental/test/support/agents/slow-agents';
import { quantilesOf, type Quantiles } from '@agent-rental/test/support/timing/quantiles';
import { until } from '@agent-rental/test/support/timing/until';
import { draftOf } from './attacks.js';

const WORK_MS = 50;
/** A run and a search a turn: within the limits of a wallet. */
const TURN_MS = 2_000;
const JOB_MS = 60_000;
const POLL_MS = 100;

/** Milliseconds of each kind of honest request. */
export type HonestTimes = Readonly<Record<'run' | 'search' | 'registration', Quantiles>>;

interface HonestParts {
  readonly baseUrl: string;
  readonly listing: string;
  readonly agentUrl: string;
  /** Of wallets that rented the listing and published nothing. Each runs it, searches and registers agents. */
  readonly tokens: readonly string[];
  /** Between two registrations of one wallet. */
  readonly registerEveryMs: number;
}

/** Makes honest callers, each at its own address. `forMs` has them call for some time. */
export function newHonestCallers(parts: HonestParts) {
  const { baseUrl, listing, agentUrl, tokens, registerEveryMs } = parts;
  const callers = tokens.map((token) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...elsewhere() };
    return async <T>(method: string, path: string, body?: object): Promise<T> => {
      const response = await fetch(baseUrl + path, {
        method,
        headers,
        ...(body && { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      if (!response.ok)
        throw new Error(`${method} ${path} was answered ${response.status}: ${text.slice(0, 300)}`);
      return JSON.parse(text) as T;
    };
  });
  type Ask = (typeof callers)[number];
  let runs = 0;

  async function run(ask: Ask): Promise<void> {
    const name = `honest-${(runs += 1)}`;
    const body = { agent_id: listing, task: slowTask(WORK_MS, name) };
    const { status, output } = await ask<{ status: string; output: unknown }>('POST', '/v1/execute', body);
    if (status !== 'completed' || output !== slowAnswer(name)) throw new Error(`an honest run ${status}`);
  }
  async function register(ask: Ask): Promise<void> {
    const schema = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] };
    const { job_id } = await ask<{ job_id: string }>('POST', '/v1/agents', draftOf(agentUrl, schema));
    interface Job {
      status: string;
      result?: { listing_id: string };
      error?: unknown;
    }
    const isDone = async () => {
      const job = await ask<Job>('GET', `/v1/jobs/${job_id}`);
      return job.status === 'queued' ? undefined : job;
    };
    const { result, error } = await until(isDone, JOB_MS, POLL_MS);
    if (!result) throw new Error(`an honest registration failed: ${JSON.stringify(error)}`);
    await ask('DELETE', `/v1/agents/${result.listing_id}`);
  }

  return {
    async forMs(ms: number): Promise<{ times: HonestTimes; failures: string[] }> {
      const end = performance.now() + ms;
      const times = { run: [] as number[], search: [] as number[], registration: [] as number[] };
      const failures: string[] = [];
      const measure = async (kind: keyof typeof times, work: () => Promise<unknown>): Promise<void> => {
        const startedAt = performance.now();
        await work().then(
          () => times[kind].push(performance.now() - startedAt),
          (error: unknown) => failures.push(String(error)),
        );
      };
      /** Repeats the work, each turn a period after the last one began, or later. */
      const repeat = async (everyMs: number, work: () => Promise<void>): Promise<void> => {
        while (performance.now() < end) {
          const next = delay(everyMs);
          await work();
          await next;
        }
      };
      await Promise.all(
        callers.flatMap((ask, place) => [
          delay(Math.min(ms, (registerEveryMs * place) / callers.length)).then(() =>
            repeat(registerEveryMs, () => measure('registration', () => register(ask))),
          ),
          repeat(TURN_MS, async () => {
            await measure('run', () => run(ask));
            await measure('search', () => ask('GET', '/v1/listings?q=agent&limit=20'));
          }),
        ]),
      );
      const { run: ran, search, registration } = times;
      return {
        times: {
          run: quantilesOf(ran),
          search: quantilesOf(search),
          registration: quantilesOf(registration),
        },
        failures,
      };
    },
  };
}
