import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { ApiError } from '../errors/api-error.js';
import { clientAddress } from './client-address.js';
import type { RateLimits, RateState } from './memory.js';

/** Bearers that worked whose hash is remembered, and addresses whose failures are. */
const MOST_REMEMBERED = 10_000;
/** Checks of bearers that are not known to work, of one address at the same time: the others wait for these. */
const MOST_AT_ONCE = 10;

/** The result of a bearer's check. */
type BearerCheck<T> =
  | { outcome: 'right'; value: T }
  /** The check was made, and says that the bearer is wrong. */
  | { outcome: 'wrong'; error: ApiError; rate: RateState }
  /** No check was made. */
  | { outcome: 'refused'; rate: RateState };

/** Limits the failed checks of bearers per client address, before the check is made. */
export interface FailedChecks {
  /**
   * Makes a check, unless so many of the address have failed in this minute that another one is not worth its cost. A
   * bearer that has worked before is always checked: strangers at the same address take nothing from its owner. An error
   * of `check` other than a 401 says nothing about the bearer; it is not counted, and rejects.
   */
  check<T>(address: string, bearer: string, check: () => Promise<T>): Promise<BearerCheck<T>>;
}

interface AddressState {
  /** Checks that are being made. */
  pending: number;
  /** Wait until one of them has ended. */
  readonly waiting: (() => void)[];
  /** Where the address stood after its last failure. */
  rate: RateState | undefined;
}

/**
 * Makes the limit. `rateLimits` counts failures, so replicas share them. An address above its limit is remembered here, so
 * neither the check nor the counter is asked again in this minute.
 */
export function createFailedChecks(rateLimits: RateLimits, limitPerMinute: number): FailedChecks {
  const working = new LRUCache<string, true>({ max: MOST_REMEMBERED });
  const addresses = new LRUCache<string, AddressState>({ max: MOST_REMEMBERED });

  /** How many checks may be made at once: never more than may still fail. */
  function mostAtOnce({ rate }: AddressState): number {
    const left = rate && isOfNow(rate) ? rate.remaining : limitPerMinute;
    return Math.max(1, Math.min(MOST_AT_ONCE, left));
  }

  return {
    async check(address, bearer, check) {
      // It remembers no secret: a hash as the database has it.
      const digest = hash('sha256', bearer, 'base64');
      const fail = async (error: unknown, state?: AddressState) => {
        if (!(error instanceof ApiError && error.status === 401)) throw error;
        working.delete(digest);
        const key = keyOf(address);
        const known = state ?? addresses.get(key);
        const rate = await rateLimits.count(key, limitPerMinute);
        if (known && isNews(rate, known.rate)) known.rate = rate;
        return { outcome: 'wrong', error, rate } as const;
      };
      if (working.has(digest)) {
        try {
          return { outcome: 'right', value: await check() };
        } catch (error) {
          return await fail(error);
        }
      }
      const key = keyOf(address);
      const state = addresses.get(key) ?? { pending: 0, waiting: [], rate: undefined };
      addresses.set(key, state);
      for (;;) {
        // Found to work by another request, while this one waited.
        if (working.has(digest)) break;
        const rate = exhausted(state);
        if (rate) return { outcome: 'refused', rate: { ...rate, exceeded: true } };
        if (state.pending < mostAtOnce(state)) break;
        await new Promise<void>((resolve) => state.waiting.push(resolve));
      }
      state.pending += 1;
      try {
        const value = await check();
        working.set(digest, true);
        return { outcome: 'right', value };
      } catch (error) {
        return await fail(error, state);
      } finally {
        state.pending -= 1;
        for (const wake of state.waiting.splice(0)) wake();
      }
    },
  };
}

/** The name for counting failures of an address. */
const keyOf = (address: string) => `bearer:${clientAddress(address)}`;

function isOfNow({ resetAt }: RateState): boolean {
  return resetAt * 1000 > Date.now();
}

/** The state of an address that may not fail again in this minute. */
function exhausted({ rate }: AddressState): RateState | undefined {
  return rate && rate.remaining === 0 && isOfNow(rate) ? rate : undefined;
}

/** Counts come back in any order. */
function isNews(rate: RateState, known: RateState | undefined): boolean {
  return known === undefined || rate.resetAt > known.resetAt || rate.remaining < known.remaining;
}
