import { until } from '@agent-rental/test/support/timing/until';
import { newRenter } from '@agent-rental/test/support/renter';
import { fallbacksOf } from '../../replicas/metrics.js';
import { REPLICAS } from './stacks/production-stack.js';
import type { Stack } from './stacks/stack.js';

/** Requests that a wallet may make in a minute: more than the load makes. */
export const REQUESTS_PER_MINUTE = 1_000;
const TOO_MANY = 40;
const AT_ONCE = 20;
const MOST_TRIES = 4;
/** The server must use Redis again within this time after the kill. */
const SHARED_AGAIN_MS = 10_000;

function ask({ dev }: Stack, token: string): Promise<Response> {
  return fetch(`${dev.base_url}/v1/credentials`, { headers: { authorization: `Bearer ${token}` } });
}

/** Checks that requests count against the replica's share during the outage of Redis, and then against the full limit again. */
export async function watchLimits(stack: Stack, token: string): Promise<string[]> {
  const wrong: string[] = [];
  let sawShare = false;
  const isSharedAgain = async () => {
    const answer = await ask(stack, token).catch(() => undefined);
    const limit = answer?.status === 200 ? Number(answer.headers.get('x-ratelimit-limit')) : undefined;
    if (limit === REQUESTS_PER_MINUTE) return sawShare;
    if (limit === REQUESTS_PER_MINUTE / REPLICAS) sawShare = true;
    else wrong.push(`a request with status ${answer?.status} was counted against ${limit}`);
    return false;
  };
  await until(isSharedAgain, SHARED_AGAIN_MS, 20).catch(() => {
    wrong.push(
      sawShare ? 'the replicas do not share limits again' : 'the limit was never the replica’s share',
    );
  });
  return wrong;
}

/**
 * Checks that a new wallet gets exactly as many answers as the limit allows. Repeats the check when the server counted locally
 * during it, because on a busy machine Redis may be late.
 */
export async function auditLimit(stack: Stack): Promise<string[]> {
  for (let left = MOST_TRIES; ; left -= 1) {
    const before = await fallbacksOf(stack);
    const wrong = await askTooOften(stack);
    if (left === 1 || (await fallbacksOf(stack)) === before) return wrong;
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
