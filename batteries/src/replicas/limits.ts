import { login } from '@agent-rental/test/support/http';
import { elsewhere, type ReplicaMarket } from '@agent-rental/test/support/replicas/replica-market';
import { Keypair } from '@solana/web3.js';
import type { Asked, Client, Got } from './client.js';

/** What a bearer and a credential may ask in a minute, as production has it. */
const REQUESTS_PER_MINUTE = 100;
const RUNS_PER_MINUTE = 60;

/** What a burst came to: requests of one subject at once, spread over the replicas. */
export interface Burst {
  readonly what: 'requests' | 'runs';
  readonly sent: number;
  readonly allowed: number;
  readonly refused: number;
  /** Connections that broke: a killed replica may have counted them, or not. */
  readonly unknown: number;
  /** By how many replicas they were answered. */
  readonly replicas: number;
}

/** How many requests a burst sends: more than a minute allows. */
const SENT = { requests: 125, runs: 80 } as const;

/** Sends more requests of a new wallet at once than a minute allows. */
export async function burst(
  what: Burst['what'],
  market: ReplicaMarket,
  client: Client,
  listingId: string,
): Promise<Burst> {
  const bearer = await loginOfStranger(market);
  // A stranger to the agent: its run is counted, and then refused.
  const asked: Asked =
    what === 'requests'
      ? { method: 'GET', path: '/v1/credentials', bearer }
      : { method: 'POST', path: '/v1/execute', bearer, body: { agent_id: listingId, task: 'x' } };
  const answers = await Promise.all(Array.from({ length: SENT[what] }, () => client.send(asked)));
  const known = answers.filter((answer) => answer !== undefined);
  const allowed = known.filter(({ status }) => status === (what === 'requests' ? 200 : 403)).length;
  const refused = known.filter(({ status }) => status === 429).length;
  const unknown = answers.length - known.length;
  if (allowed + refused !== known.length)
    client.broken.push(
      `${known.length - allowed - refused} ${what} of a burst were neither allowed nor refused`,
    );
  const replicas = new Set(known.map(({ replica }) => replica)).size;
  return { what, sent: answers.length, allowed, refused, unknown, replicas };
}

/** Logs a new wallet in. A replica that is killed meanwhile breaks the connection: then another one is asked. */
async function loginOfStranger(market: ReplicaMarket): Promise<string> {
  for (let left = market.replicas.length; ; left -= 1) {
    try {
      return await login(market.served, Keypair.generate(), elsewhere());
    } catch (error) {
      if (!(error instanceof TypeError) || left === 0) throw error;
    }
  }
}

/**
 * What is wrong with a burst: exactly as many were allowed as the limit says.
 *
 * @param withoutRedis requests that replicas counted alone, each against its share: by so many the bound may be passed
 */
export function judgeBurst({ what, allowed, unknown }: Burst, withoutRedis: number): string[] {
  const limit = what === 'requests' ? REQUESTS_PER_MINUTE : RUNS_PER_MINUTE;
  if (allowed <= limit + withoutRedis && allowed + unknown >= limit - withoutRedis) return [];
  return [`${allowed} ${what} of a minute were allowed, of ${limit} (${unknown} broke)`];
}

/**
 * Collects what the answers to reads say of their bearers' limits: in one window of a bearer each number of remaining requests is
 * told once, by whichever replica.
 */
export class Windows {
  readonly #windows = new Map<string, { resetAt: number; told: Set<number> }[]>();
  /** Answers that were looked at. */
  looked = 0;
  readonly #broken: string[];

  constructor(broken: string[]) {
    this.#broken = broken;
  }

  get count(): number {
    return [...this.#windows.values()].reduce((sum, windows) => sum + windows.length, 0);
  }

  note({ method, bearer }: Asked, { headers, status }: Got): void {
    const resetAt = Number(headers.get('x-ratelimit-reset'));
    const isOwnLimit = Number(headers.get('x-ratelimit-limit')) === REQUESTS_PER_MINUTE;
    if (method !== 'GET' || status === 429 || !isOwnLimit || !(resetAt > 0)) return;
    const remaining = Number(headers.get('x-ratelimit-remaining'));
    const windows = this.#windows.get(bearer) ?? [];
    this.#windows.set(bearer, windows);
    // The end is told in whole seconds, rounded at each answer.
    let window = windows.find((each) => Math.abs(each.resetAt - resetAt) <= 2);
    if (window === undefined) windows.push((window = { resetAt, told: new Set() }));
    this.looked += 1;
    if (window.told.has(remaining))
      this.#broken.push(`two requests of one minute were the one before ${remaining} more`);
    window.told.add(remaining);
  }
}
