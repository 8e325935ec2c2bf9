import { describe, expect, it } from 'vitest';
import { reclaimableAt, reclaimReason } from '../accounts/reclaim.js';
import {
  purchaseOneTime,
  purchasePerQuery,
  purchaseSubscription,
  renewSubscription,
  topupBalance,
} from '../instructions/rental.js';
import { updateListing } from '../instructions/listing.js';
import type { RentalModel } from '../rental-model.js';
import { expectRefusal } from '../testing/expect-refusal.js';
import { DEPOSIT, Market, MONTH, PRICE } from '../testing/market.js';

const DAY = 86_400n;

function suspended(model: RentalModel = 'per_query') {
  const market = new Market();
  const id = market.list(model);
  market.rent(id);
  market.chain.succeed(market.moderate(id, true));
  return { market, chain: market.chain, id };
}

describe('a suspension', () => {
  it('is the decision of the admin alone, and repeating it changes nothing [PRG-47]', () => {
    const { market, chain, id } = suspended();
    const { listing } = market.addresses(id);
    const pausedAt = chain.now();
    expect(market.listing(id)).toMatchObject({ status: 'suspended', pausedAt });
    chain.setTime(pausedAt + 100n);
    const { events } = chain.succeed(market.moderate(id, true));
    expect(events).toEqual([{ name: 'ListingModerated', data: { listing, suspended: true } }]);
    expect(market.listing(id)).toMatchObject({ status: 'suspended', pausedAt });
    for (const other of [market.authority, market.creator, market.buyer, chain.wallet()]) {
      for (const decision of [true, false])
        expectRefusal(chain.send(market.moderate(id, decision, other)), 'Unauthorized');
    }
  });

  it('stops each purchase, renewal and top-up [PRG-47]', () => {
    for (const model of ['one_time', 'subscription', 'per_query'] as const) {
      const { market, chain, id } = suspended(model);
      const other = chain.wallet();
      const common = { listingId: id, treasury: market.treasury, maxPriceLamports: 10n ** 15n };
      const month = { ...common, durationSeconds: MONTH };
      const attempts = {
        one_time: [purchaseOneTime({ ...common, buyer: other })],
        subscription: [
          purchaseSubscription({ ...month, buyer: other }),
          renewSubscription({ ...month, buyer: market.buyer }),
        ],
        per_query: [
          purchasePerQuery({ ...common, buyer: other, depositLamports: DEPOSIT }),
          topupBalance({ ...common, buyer: market.buyer, amountLamports: PRICE }),
        ],
      }[model];
      for (const attempt of attempts) expectRefusal(chain.send(attempt), 'ListingNotActive');
      expect(market.hasAccess(id)).toBe(false);
    }
  });

  it('lets runs in flight be charged, and the creator withdraw and close, but not resume [PRG-47]', () => {
    const { market, chain, id } = suspended();
    const { creator } = market;
    chain.succeed(market.charge(id));
    const resume = updateListing({ creator, listingId: id, status: 'active' });
    expectRefusal(chain.send(resume), 'ListingNotActive');
    const { events } = market.updateListing(id, { status: 'paused', metadataUri: 'ar://corrected' });
    expect(events[0]?.data).toMatchObject({ paused: true });
    expect(market.listing(id)).toMatchObject({ status: 'suspended', metadataUri: 'ar://corrected' });
    chain.succeed(market.withdraw(id), market.close(id));
    expect(market.listing(id)).toMatchObject({ status: 'closed', pausedAt: null });
    for (const decision of [true, false])
      expectRefusal(chain.send(market.moderate(id, decision)), 'ListingNotActive');
  });

  it('pays a buyer’s balance back at once, and leaves the credential for the time after it [PRG-47]', () => {
    const { market, chain, id } = suspended();
    const { buyer } = market;
    const before = chain.lamports(buyer);
    expect(reclaimReason(market.listing(id), market.balance(id), chain.now())).toBe('suspended');
    expect(reclaimableAt(market.listing(id), market.balance(id), chain.now())).toBe(chain.now());
    expectRefusal(chain.send(market.revoke(id, chain.wallet())), 'Unauthorized');
    const { events } = chain.succeed(market.revoke(id, buyer));
    expect(events[0]?.data).toMatchObject({ refundedLamports: DEPOSIT, revoked: false });
    expect(chain.lamports(buyer)).toBe(before + DEPOSIT);
    expectRefusal(chain.send(market.revoke(id, buyer)), 'NothingToWithdraw');
    chain.succeed(market.moderate(id, false));
    market.updateListing(id, { status: 'active' });
    const common = { buyer, listingId: id, treasury: market.treasury, maxPriceLamports: PRICE };
    chain.succeed(topupBalance({ ...common, amountLamports: PRICE }));
    expect(market.hasAccess(id)).toBe(true);
  });
});

describe('a lifted suspension', () => {
  it('is a pause since the suspension began, which its creator ends [PRG-47]', () => {
    const { market, chain, id } = suspended();
    const pausedAt = chain.now();
    chain.setTime(pausedAt + 8n * DAY);
    const { events } = chain.succeed(market.moderate(id, false));
    expect(events[0]?.data).toMatchObject({ suspended: false });
    expect(market.listing(id)).toMatchObject({ status: 'paused', pausedAt });
    expect(market.hasAccess(id)).toBe(true);
    market.updateListing(id, { status: 'active' });
    expect(market.listing(id)).toMatchObject({ status: 'active', pausedAt: null });
    // The 8 days count as any pause.
    chain.succeed(market.revoke(id, market.buyer));
  });

  it('goes on with a pause that began before it, and leaves a listing on sale alone [PRG-47]', () => {
    const market = new Market();
    const { chain } = market;
    const id = market.list('per_query');
    market.rent(id);
    chain.succeed(market.moderate(id, false));
    expect(market.listing(id)).toMatchObject({ status: 'active', pausedAt: null });
    const pausedAt = chain.now();
    market.updateListing(id, { status: 'paused' });
    chain.setTime(pausedAt + 3n * DAY);
    chain.succeed(market.moderate(id, true));
    chain.setTime(pausedAt + 4n * DAY);
    chain.succeed(market.moderate(id, false));
    expect(market.listing(id)).toMatchObject({ status: 'paused', pausedAt });
    expectRefusal(chain.send(market.revoke(id, market.buyer)), 'Unauthorized');
    chain.setTime(pausedAt + 7n * DAY);
    chain.succeed(market.revoke(id, market.buyer));
  });
});
