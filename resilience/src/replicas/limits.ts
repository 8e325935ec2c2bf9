import { login } from '@agent-rental/test/support/http';
import { elsewhere, type ReplicaMarket } from '@agent-rental/test/support/replicas/replica-market';
import { Keypair } from '@solana/web3.js';
import type { Asked, Client, Got } from './client.js';

/** Production's limits of a bearer's requests and a credential's runs. */
const REQUESTS_PER_MINUTE = 100;
const RUNS_PER_MINUTE = 60;

/** The result of a burst: requests of one wallet at once, spread over the replicas. */
export interface Burst {
  readonly what: 'requests' | 'runs';
  readonly sent: number;
  readonly allowed: number;
  readonly refused: number;
  /** Broken connections. A killed replica may have counted them. */
  readonly unknown: number;
  readonly replicas: number;
}

const SENT = { requests: 125, runs: 80 } as const;

/** Sends more requests of a new wallet at once than a minute allows. */
export async function burst(what: Burst['what'], market: ReplicaMarket, client: Client, listingId: string) {
  const bearer = await loginOfStranger(market);
  // The wallet has not rented the agent: its run is counted, and then refused.
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

/** Logs a new wallet in. When a kill breaks the connection, it asks another replica. */
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
 * Checks that a burst had exactly as many allowed requests as the limit.
 *
 * @param withoutRedis requests that replicas counted alone against their shares. The bound may be missed by this number.
 * @returns the faults
 */
export function judgeBurst({ what, allowed, unknown }: Burst, withoutRedis: number): string[] {
  const limit = what === 'requests' ? REQUESTS_PER_MINUTE : RUNS_PER_MINUTE;
  if (allowed <= limit + withoutRedis && allowed + unknown >= limit - withoutRedis) return [];
  return [`${allowed} ${what} of a minute were allowed, of ${limit} (${unknown} broke)`];
}

/**
 * Checks the rate-limit headers of answers to reads. All replicas together report each number of remaining requests at most once
 * in a bearer's window.
 */
export class Windows {
  readonly #windows = new Map<string, { resetAt: number; told: Set<number> }[]>();
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
    // The header has the window's end in whole seconds, rounded at each answer.
    let window = windows.find((each) => Math.abs(each.resetAt - resetAt) <= 2);
    if (window === undefined) windows.push((window = { resetAt, told: new Set() }));
    this.looked += 1;
    if (window.told.has(remaining))
      this.#broken.push(`two requests of one minute had ${remaining} remaining requests`);
    window.told.add(remaining);
  }
}
