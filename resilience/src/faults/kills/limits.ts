import { setTimeout as delay } from 'node:timers/promises';
import { METRICS_TOKEN } from '@agent-rental/test/support/processes/replicas';
import { newRenter } from '@agent-rental/test/support/renter';
import { REPLICAS } from './stacks/production-stack.js';
import type { Stack } from './stacks/stack.js';

/** Requests that a wallet may make in a minute: more than the load makes. */
export const REQUESTS_PER_MINUTE = 1_000;
/** Requests over the limit. */
const TOO_MANY = 40;
const AT_ONCE = 20;
const MOST_TRIES = 4;
/** The server must use Redis again within this time after the kill. */
const SHARED_AGAIN_MS = 10_000;

/** The limit that a request of this wallet is counted against, or another text when the request failed. */
async function limitOf(stack: Stack, token: string): Promise<string> {
  const { status, headers } = await ask(stack, token);
  return status === 200 ? (headers.get('x-ratelimit-limit') ?? 'nothing') : `status ${status}`;
}

function ask({ dev }: Stack, token: string): Promise<Response> {
  return fetch(`${dev.base_url}/v1/credentials`, { headers: { authorization: `Bearer ${token}` } });
}

/** Checks that requests count against the replica's share during the outage of Redis, and then against the full limit again. */
export async function watchLimits(stack: Stack, token: string): Promise<string[]> {
  const wrong: string[] = [];
  const until = performance.now() + SHARED_AGAIN_MS;
  let sawShare = false;
  for (;;) {
    const limit = await limitOf(stack, token).catch(String);
    if (limit === String(REQUESTS_PER_MINUTE / REPLICAS)) sawShare = true;
    else if (limit !== String(REQUESTS_PER_MINUTE)) wrong.push(`counted against ${limit}`);
    else if (sawShare) break;
    if (performance.now() > until) {
      return [
        ...wrong,
        sawShare ? 'the replicas do not share limits again' : 'the limit was never the replica’s share',
      ];
    }
    await delay(20);
  }
  return wrong;
}

/**
 * Checks that a new wallet gets exactly as many answers as the limit allows. Repeats the check when the server counted locally
 * during it, because on a busy machine Redis may be late.
 */
export async function auditLimit(stack: Stack): Promise<string[]> {
  for (let left = MOST_TRIES; ; left -= 1) {
    const before = await fallbacks(stack);
    const wrong = await askTooOften(stack);
    if (left === 1 || (await fallbacks(stack)) === before) return wrong;
  }
}

async function askTooOften(stack: Stack): Promise<string[]> {
  const { token } = await newRenter(stack);
  let passed = 0;
  let left = REQUESTS_PER_MINUTE + TOO_MANY;
  const others: number[] = [];
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      while (left-- > 0) {
        const response = await ask(stack, token);
        await response.arrayBuffer();
        if (response.status === 200) passed += 1;
        else if (response.status !== 429) others.push(response.status);
      }
    }),
  );
  return passed === REQUESTS_PER_MINUTE && others.length === 0
    ? []
    : [`${passed} of ${REQUESTS_PER_MINUTE} requests passed, others were ${others.join(', ') || '429'}`];
}

/** The number of requests that the server counted without Redis. */
async function fallbacks({ dev }: Stack): Promise<string | undefined> {
  const headers = { authorization: `Bearer ${METRICS_TOKEN}` };
  const text = await (await fetch(`${dev.base_url}/metrics`, { headers })).text();
  return /^agent_rental_rate_limit_fallbacks_total (\d+)$/m.exec(text)?.[1];
}
