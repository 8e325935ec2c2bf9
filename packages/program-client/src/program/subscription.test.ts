import { describe, expect, it } from 'vitest';
import { revokeAccess } from '../instructions/access.js';
import { purchaseSubscription, renewSubscription } from '../instructions/rental.js';
import { protocolFeeLamports, subscriptionPriceLamports } from '../pricing.js';
import { expectRefusal } from '../testing/expect-refusal.js';
import { Market, MONTH, PRICE } from '../testing/market.js';

const MAX = 2n ** 64n - 1n;

describe('subscriptions', () => {
  function setup() {
    const market = new Market();
    const listingId = market.list('subscription');
    const input = {
      buyer: market.buyer,
      listingId,
      treasury: market.treasury,
      durationSeconds: MONTH,
      maxPriceLamports: MAX,
    };
    return { market, listingId, input, chain: market.chain };
  }

  it.each([2_592_000n, 7_776_000n, 31_536_000n])(
    'sells %d seconds at their share of the price [PRG-20, LIM-16]',
    (duration) => {
      const { market, listingId, input, chain } = setup();
      const price = subscriptionPriceLamports(PRICE, duration);
      const fee = protocolFeeLamports(price, 250);
      const { events } = chain.succeed(purchaseSubscription({ ...input, durationSeconds: duration }));
      const expiresAt = chain.now() + duration;
      expect(market.credential(listingId)).toMatchObject({
        rentalModel: 'subscription',
        valid: true,
        expiresAt,
      });
      expect(market.escrow(listingId).earningsLamports).toBe(price - fee);
      expect(market.listing(listingId).latestSubscriptionExpiry).toBe(expiresAt);
      expect(events).toEqual([
        {
          name: 'SubscriptionPurchased',
          data: {
            listing: market.addresses(listingId).listing,
            buyer: market.buyer,
            priceLamports: price,
            feeLamports: fee,
            expiresAt,
          },
        },
      ]);
    },
  );

  it.each([0n, 1n, 2_591_999n, 2_592_001n, 31_536_001n, MAX])(
    'sells no other window: %d [PRG-20, LIM-16]',
    (durationSeconds) => {
      const { market, input, chain } = setup();
      expectRefusal(chain.send(purchaseSubscription({ ...input, durationSeconds })), 'InvalidDuration');
      market.rent(input.listingId);
      expectRefusal(chain.send(renewSubscription({ ...input, durationSeconds })), 'InvalidDuration');
    },
  );

  it('caps the price of the whole window [PRG-10]', () => {
    const { input, chain } = setup();
    const yearly = { ...input, durationSeconds: 31_536_000n };
    const cost = subscriptionPriceLamports(PRICE, 31_536_000n);
    for (const build of [purchaseSubscription, renewSubscription]) {
      expectRefusal(chain.send(build({ ...yearly, maxPriceLamports: cost - 1n })), 'PriceAboveLimit');
      chain.succeed(build({ ...yearly, maxPriceLamports: cost }));
      chain.setTime(chain.now() + 1n);
    }
  });

  it('is renewed, not bought again [PRG-33, CRD-17]', () => {
    const { market, listingId, input, chain } = setup();
    chain.succeed(purchaseSubscription(input));
    expectRefusal(chain.send(purchaseSubscription(input)), 'InvalidAccessType');
    chain.setTime(chain.now() + MONTH);
    expect(market.hasAccess(listingId)).toBe(false);
    expectRefusal(chain.send(purchaseSubscription(input)), 'CredentialExpired');
    chain.succeed(renewSubscription(input));
    expect(market.hasAccess(listingId)).toBe(true);
    chain.succeed(revokeAccess({ admin: market.admin, buyer: market.buyer, listingId }));
    expectRefusal(chain.send(purchaseSubscription(input)), 'CredentialRevoked');
    expectRefusal(chain.send(renewSubscription(input)), 'CredentialRevoked');
  });

  it('renews counting from now, at today’s price, and never to an earlier end [PRG-20]', () => {
    const { market, listingId, input, chain } = setup();
    chain.succeed(purchaseSubscription({ ...input, durationSeconds: 7_776_000n }));
    const start = chain.now();
    const quarter = renewSubscription({ ...input, durationSeconds: 7_776_000n });
    expectRefusal(chain.send(quarter), 'InvalidDuration');
    chain.setTime(start + 7_776_000n - MONTH);
    expectRefusal(chain.send(renewSubscription(input)), 'InvalidDuration');
    chain.setTime(start + 7_776_000n - MONTH + 1n);
    market.updateListing(listingId, { priceLamports: 2n * PRICE });
    const earned = market.escrow(listingId).earningsLamports;
    const { events } = chain.succeed(renewSubscription(input));
    const expiresAt = start + 7_776_000n + 1n;
    const fee = protocolFeeLamports(2n * PRICE, 250);
    expect(market.credential(listingId)).toMatchObject({ expiresAt, purchasedAt: start });
    expect(market.listing(listingId).latestSubscriptionExpiry).toBe(expiresAt);
    expect(market.escrow(listingId).earningsLamports).toBe(earned + 2n * PRICE - fee);
    expect(events).toEqual([
      {
        name: 'SubscriptionRenewed',
        data: {
          listing: market.addresses(listingId).listing,
          buyer: market.buyer,
          priceLamports: 2n * PRICE,
          feeLamports: fee,
          expiresAt,
        },
      },
    ]);
  });

  it('keeps the latest end of all subscriptions, also when a shorter one follows', () => {
    const { market, listingId, input, chain } = setup();
    chain.succeed(purchaseSubscription({ ...input, durationSeconds: 31_536_000n }));
    const latest = chain.now() + 31_536_000n;
    chain.succeed(purchaseSubscription({ ...input, buyer: chain.wallet() }));
    expect(market.listing(listingId).latestSubscriptionExpiry).toBe(latest);
  });

  it('needs a subscription to renew', () => {
    const { market, input, chain } = setup();
    expectRefusal(chain.send(renewSubscription(input)), 'CredentialNotFound');
    const oneTime = market.list('one_time');
    market.rent(oneTime);
    expectRefusal(chain.send(renewSubscription({ ...input, listingId: oneTime })), 'InvalidAccessType');
    const purchase = purchaseSubscription({ ...input, listingId: market.list('one_time') });
    expectRefusal(chain.send(purchase), 'InvalidAccessType');
  });

  it('is not sold by a listing that is paused or closed [PRG-24]', () => {
    const { market, listingId, input, chain } = setup();
    market.updateListing(listingId, { status: 'paused' });
    expectRefusal(chain.send(purchaseSubscription(input)), 'ListingNotActive');
    market.updateListing(listingId, { status: 'active' });
    chain.succeed(market.close(listingId));
    expectRefusal(chain.send(purchaseSubscription(input)), 'ListingNotActive');
    expectRefusal(chain.send(renewSubscription(input)), 'CredentialNotFound');
  });

  it('is not renewed while listing or protocol are paused [PRG-24]', () => {
    const { market, listingId, input, chain } = setup();
    market.rent(listingId);
    chain.setTime(chain.now() + 1n);
    market.updateListing(listingId, { status: 'paused' });
    expectRefusal(chain.send(renewSubscription(input)), 'ListingNotActive');
    expect(market.hasAccess(listingId)).toBe(true);
    market.updateProtocol({ paused: true });
    expectRefusal(chain.send(renewSubscription(input)), 'ProtocolPaused');
    expectRefusal(chain.send(purchaseSubscription({ ...input, buyer: chain.wallet() })), 'ProtocolPaused');
  });
});
