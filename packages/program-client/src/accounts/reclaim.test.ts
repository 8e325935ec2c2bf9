import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LISTING_OFFSETS, type Listing } from './accounts.js';
import {
  canReclaim,
  pausedSeconds,
  PAUSE_UNIT_SECONDS,
  PAUSE_WINDOW_SECONDS,
  RECLAIM_AFTER_PAUSED_SECONDS,
  reclaimableAt,
  reclaimReason,
} from './reclaim.js';
import { Market, PRICE } from '../testing/market.js';

const NEVER_PAUSED = { units: 0n, latest: 0, remainderSeconds: 0 };

/** Every pause of a listing, for ever: the rule in its simplest form. */
class EveryPause {
  readonly #pauses: { from: bigint; to: bigint }[] = [];
  #pausedAt: bigint | null = null;

  pause(now: bigint): void {
    this.#pausedAt ??= now;
  }

  resume(now: bigint): void {
    if (this.#pausedAt !== null) {
      this.#pauses.push({ from: this.#pausedAt, to: now });
      this.#pausedAt = null;
    }
  }

  /** The seconds paused within a time that ends now; a pause that goes on counts from its beginning. */
  secondsWithin(window: bigint, now: bigint): bigint {
    const ongoing = this.#pausedAt === null ? 0n : now - this.#pausedAt;
    return this.#pauses.reduce((sum, { from, to }) => {
      const start = from > now - window ? from : now - window;
      return to > start ? sum + to - start : sum;
    }, ongoing);
  }
}

/** Steps of time in seconds: moments, hours, days, and values near the unit and the window. */
const passing = fc.oneof(
  fc.bigInt(0n, 100n),
  fc.bigInt(0n, 30_000n),
  fc.bigInt(0n, 400_000n),
  fc.bigInt(0n, 3_000_000n),
  fc.tuple(fc.bigInt(1n, 62n), fc.bigInt(-1n, 1n)).map(([units, off]) => units * PAUSE_UNIT_SECONDS + off),
);

const steps = fc.array(fc.record({ passes: passing, action: fc.constantFrom('pause', 'resume', 'none') }), {
  minLength: 1,
  maxLength: 60,
});

function rented() {
  const market = new Market();
  const listingId = market.list('per_query');
  market.rent(listingId);
  const reclaim = market.revoke(listingId, market.buyer);
  const isAllowed = () => market.chain.simulate(reclaim).error === null;
  return { market, chain: market.chain, listingId, isAllowed };
}

describe('the pauses that count towards a reclaim', () => {
  it('are at least the pauses of 30 days, and less than the pauses of 30.5 days and half a day more [PRG-31]', () => {
    const { market, chain, listingId, isAllowed } = rented();
    const start = chain.now();
    const fresh = chain.data(market.addresses(listingId).listing);
    const seen = { allowed: 0, refused: 0 };
    fc.assert(
      fc.property(steps, fc.bigInt(0n, PAUSE_UNIT_SECONDS), (sequence, offset) => {
        const { listing } = market.addresses(listingId);
        const account = chain.account(listing);
        if (account === null) {
          throw new Error('The listing is gone.');
        }
        chain.setAccount(listing, { ...account, data: fresh });
        const every = new EveryPause();
        let now = start + offset;
        for (const { passes, action } of sequence) {
          chain.setTime((now += passes));
          if (action !== 'none') {
            market.updateListing(listingId, { status: action === 'pause' ? 'paused' : 'active' });
            every[action](now);
          }
          const state = market.listing(listingId);
          const counted = pausedSeconds(state, now);
          expect(counted).toBeGreaterThanOrEqual(every.secondsWithin(PAUSE_WINDOW_SECONDS, now));
          expect(counted).toBeLessThan(
            every.secondsWithin(PAUSE_WINDOW_SECONDS + PAUSE_UNIT_SECONDS, now) + PAUSE_UNIT_SECONDS,
          );
          const allowed = isAllowed();
          expect(canReclaim(state, market.balance(listingId), now)).toBe(allowed);
          seen[allowed ? 'allowed' : 'refused'] += 1;
        }
      }),
      { numRuns: 400, seed: 7 },
    );
    expect(Math.min(seen.allowed, seen.refused)).toBeGreaterThan(500);
  });

  it('let the program and its client agree on the first second of a reclaim [PRG-31]', () => {
    const { market, chain, listingId, isAllowed } = rented();
    const pauses = fc.array(fc.tuple(passing, passing), { maxLength: 12 });
    let later = 0;
    fc.assert(
      fc.property(pauses, (history) => {
        for (const [paused, active] of history) {
          market.updateListing(listingId, { status: 'paused' });
          chain.setTime(chain.now() + paused);
          market.updateListing(listingId, { status: 'active' });
          chain.setTime(chain.now() + active);
        }
        market.updateListing(listingId, { status: 'paused' });
        const now = chain.now();
        const at = reclaimableAt(market.listing(listingId), market.balance(listingId), now);
        const first = at ?? 0n;
        expect(first).toBeGreaterThanOrEqual(now);
        expect(first).toBeLessThanOrEqual(now + RECLAIM_AFTER_PAUSED_SECONDS);
        const isLater = first > now;
        chain.setTime(isLater ? first - 1n : now);
        expect(isAllowed()).toBe(!isLater);
        chain.setTime(first);
        expect(isAllowed()).toBe(true);
        later += isLater ? 1 : 0;
        market.updateListing(listingId, { status: 'active' });
        chain.setTime(chain.now() + PAUSE_WINDOW_SECONDS);
      }),
      { numRuns: 400, seed: 7 },
    );
    expect(later).toBeGreaterThan(50);
  });

  it('of a listing from before they were counted begin with its present pause [PRG-31]', () => {
    const { market, chain, listingId, isAllowed } = rented();
    market.updateListing(listingId, { status: 'paused' });
    const state = market.listing(listingId);
    expect(state.pauseHistory).toEqual(NEVER_PAUSED);
    chain.setTime(chain.now() + RECLAIM_AFTER_PAUSED_SECONDS - 1n);
    expect(isAllowed()).toBe(false);
    chain.setTime(chain.now() + 1n);
    expect(isAllowed()).toBe(true);
    // The fields use bytes that older layouts left zero, before the strings.
    const data = chain.data(market.addresses(listingId).listing);
    const later = data.subarray(LISTING_OFFSETS.listingId - 32, LISTING_OFFSETS.listingId);
    expect(later.every((byte) => byte === 0)).toBe(true);
  });
});

describe('reclaimReason and reclaimableAt', () => {
  const listing = {
    status: 'active',
    priceLamports: PRICE,
    pausedAt: null,
    pauseHistory: NEVER_PAUSED,
  } satisfies Partial<Listing>;
  const balance = { maxPriceLamports: PRICE };
  const now = 1_750_000_000n;

  it('name the first reason that holds', () => {
    const higher = { ...listing, priceLamports: PRICE + 1n };
    expect(reclaimReason({ ...higher, status: 'closed' }, balance, now)).toBe('closed');
    expect(reclaimReason(higher, balance, now)).toBe('price_above_limit');
    expect(reclaimReason(listing, balance, now)).toBeNull();
    const longPaused = { ...listing, status: 'paused', pausedAt: now - 604_800n } as const;
    expect(reclaimReason(longPaused, balance, now)).toBe('paused');
    expect(reclaimReason({ ...longPaused, pausedAt: now - 604_799n }, balance, now)).toBeNull();
  });

  it('give the present time where a reclaim is allowed, and null where it never will be', () => {
    expect(reclaimableAt({ ...listing, status: 'closed' }, balance, now)).toBe(now);
    expect(reclaimableAt(listing, balance, now)).toBeNull();
    const paused = { ...listing, status: 'paused', pausedAt: now } as const;
    expect(reclaimableAt(paused, balance, now)).toBe(now + 604_800n);
    const half = { units: 0b1111111n, latest: Number(now / 43_200n), remainderSeconds: 43_199 };
    expect(reclaimableAt({ ...paused, pauseHistory: half }, balance, now)).toBe(
      now + 604_800n - 8n * 43_200n + 1n,
    );
  });
});
