import { SystemProgram } from '@solana/web3.js';
import { describe, expect, it } from 'vitest';
import { ACCOUNT_SIZES } from './accounts.js';
import { revokeAccess, revokePerQueryAccess } from './instructions/access.js';
import { closeListing, withdrawEarnings } from './instructions/listing.js';
import {
  purchaseOneTime,
  purchasePerQuery,
  purchaseSubscription,
  renewSubscription,
  topupBalance,
} from './instructions/rental.js';
import { protocolFeeLamports, subscriptionPriceLamports } from './pricing.js';
import { expectRefusal } from './testing/expect-refusal.js';
import { DEPOSIT, Market, MONTH, PRICE } from './testing/market.js';

const MAX = 2n ** 64n - 1n;

describe('purchase_one_time', () => {
  function setup() {
    const market = new Market();
    const listingId = market.list('one_time');
    const input = {
      buyer: market.buyer,
      listingId,
      treasury: market.treasury,
      maxPriceLamports: PRICE,
    };
    return { market, listingId, input, chain: market.chain };
  }

  it('moves exactly the price: the fee out of it to the treasury, the rest to the escrow [PRG-7, PRG-43]', () => {
    const { market, listingId, input, chain } = setup();
    const at = market.addresses(listingId);
    const fee = protocolFeeLamports(PRICE, 250);
    const before = {
      buyer: chain.lamports(market.buyer),
      treasury: chain.lamports(market.treasury),
      escrow: chain.lamports(at.escrow),
    };
    const { events } = chain.succeed(purchaseOneTime(input));
    expect(chain.lamports(market.treasury)).toBe(before.treasury + fee);
    expect(chain.lamports(at.escrow)).toBe(before.escrow + PRICE - fee);
    expect(chain.lamports(market.buyer)).toBe(
      before.buyer - PRICE - chain.rent(ACCOUNT_SIZES.AccessCredential),
    );
    expect(market.escrow(listingId)).toMatchObject({
      earningsLamports: PRICE - fee,
      totalEarnedLamports: PRICE - fee,
    });
    expect(market.credential(listingId)).toMatchObject({
      version: 1,
      buyer: market.buyer,
      listing: at.listing,
      rentalModel: 'one_time',
      valid: true,
      purchasedAt: chain.now(),
      expiresAt: null,
    });
    expect(events).toEqual([
      {
        name: 'OneTimePurchased',
        data: { listing: at.listing, buyer: market.buyer, priceLamports: PRICE, feeLamports: fee },
      },
    ]);
  });

  it('is refused a second time, and for ever after a revoke [PRG-30, PRG-33, PRG-46]', () => {
    const { market, listingId, input, chain } = setup();
    chain.succeed(purchaseOneTime(input));
    expectRefusal(chain.send(purchaseOneTime(input)), 'InvalidAccessType');
    chain.succeed(revokeAccess({ admin: market.admin, buyer: market.buyer, listingId }));
    expectRefusal(chain.send(purchaseOneTime(input)), 'CredentialRevoked');
  });

  it('never costs more than the buyer agreed to [PRG-10]', () => {
    const { market, listingId, input, chain } = setup();
    expectRefusal(chain.send(purchaseOneTime({ ...input, maxPriceLamports: PRICE - 1n })), 'PriceAboveLimit');
    market.updateListing(listingId, { priceLamports: PRICE + 1n });
    expectRefusal(chain.send(purchaseOneTime(input)), 'PriceAboveLimit');
  });

  it('is refused while listing or protocol are paused, or the listing closed [PRG-24, PRG-34, TXN-7, TXN-8]', () => {
    const { market, listingId, input, chain } = setup();
    market.updateListing(listingId, { status: 'paused' });
    expectRefusal(chain.send(purchaseOneTime(input)), 'ListingNotActive');
    market.updateListing(listingId, { status: 'active' });
    market.updateProtocol({ paused: true });
    expectRefusal(chain.send(purchaseOneTime(input)), 'ProtocolPaused');
    market.updateProtocol({ paused: false });
    chain.succeed(closeListing({ creator: market.creator, listingId }));
    expectRefusal(chain.send(purchaseOneTime(input)), 'ListingNotActive');
  });

  it('is refused on a listing of another model', () => {
    const { market, input, chain } = setup();
    for (const model of ['subscription', 'per_query'] as const) {
      expectRefusal(
        chain.send(purchaseOneTime({ ...input, listingId: market.list(model) })),
        'InvalidAccessType',
      );
    }
  });

  it('pays the treasury that the protocol names, and no other', () => {
    const { market, input, chain } = setup();
    expectRefusal(chain.send(purchaseOneTime({ ...input, treasury: chain.wallet() })), 'ConstraintHasOne');
    const treasury = chain.wallet();
    market.updateProtocol({ treasury });
    expectRefusal(chain.send(purchaseOneTime(input)), 'ConstraintHasOne');
    chain.succeed(purchaseOneTime({ ...input, treasury }));
  });

  it('leaves a buyer without the money as they were [TXN-6]', () => {
    const { market, listingId, input, chain } = setup();
    const rent = chain.rent(ACCOUNT_SIZES.AccessCredential);
    const poor = chain.wallet(rent + PRICE - 1n);
    const outcome = chain.send(purchaseOneTime({ ...input, buyer: poor }));
    expect(outcome.error).toBe(1);
    expect(chain.lamports(poor)).toBe(rent + PRICE - 1n);
    expect(market.hasAccess(listingId, poor)).toBe(false);
    const exact = chain.wallet(rent + PRICE);
    chain.succeed(purchaseOneTime({ ...input, buyer: exact }));
    expect(chain.lamports(exact)).toBe(0n);
  });

  it('works on an address that somebody sent lamports to [PRG-35]', () => {
    for (const present of [1n, 10n ** 9n]) {
      const { market, listingId, input, chain } = setup();
      const { credential, escrow } = market.addresses(listingId);
      const rent = chain.rent(ACCOUNT_SIZES.AccessCredential);
      const escrowed = chain.lamports(escrow);
      chain.fund(credential, present);
      const before = chain.lamports(market.buyer);
      chain.succeed(purchaseOneTime(input));
      expect(chain.lamports(credential)).toBe(present > rent ? present : rent);
      expect(chain.lamports(market.buyer)).toBe(before - PRICE - (present > rent ? 0n : rent - present));
      expect(chain.lamports(escrow)).toBe(escrowed + market.escrow(listingId).earningsLamports);
    }
  });

  it('lets the treasury and the creator buy too, at the same price', () => {
    const { market, listingId, input, chain } = setup();
    const rent = chain.rent(ACCOUNT_SIZES.AccessCredential);
    const fee = protocolFeeLamports(PRICE, 250);
    const before = chain.lamports(market.treasury);
    chain.succeed(purchaseOneTime({ ...input, buyer: market.treasury }));
    expect(chain.lamports(market.treasury)).toBe(before - rent - PRICE + fee);
    chain.succeed(purchaseOneTime({ ...input, buyer: market.creator }));
    expect(market.escrow(listingId).earningsLamports).toBe(2n * (PRICE - fee));
  });

  it('takes no fee at 0 basis points, and a tenth at most [PRG-8]', () => {
    for (const [feeBps, fee] of [
      [0, 0n],
      [1_000, PRICE / 10n],
    ] as const) {
      const { market, listingId, input, chain } = setup();
      market.updateProtocol({ feeBps });
      const before = chain.lamports(market.treasury);
      chain.succeed(purchaseOneTime(input));
      expect(chain.lamports(market.treasury)).toBe(before + fee);
      expect(market.escrow(listingId).earningsLamports).toBe(PRICE - fee);
    }
  });
});

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
    'sells no other window: %d [PRG-21, LIM-16]',
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
    expectRefusal(
      chain.send(purchaseSubscription({ ...yearly, maxPriceLamports: cost - 1n })),
      'PriceAboveLimit',
    );
    chain.succeed(purchaseSubscription({ ...yearly, maxPriceLamports: cost }));
    chain.setTime(chain.now() + 1n);
    expectRefusal(
      chain.send(renewSubscription({ ...yearly, maxPriceLamports: cost - 1n })),
      'PriceAboveLimit',
    );
    chain.succeed(renewSubscription({ ...yearly, maxPriceLamports: cost }));
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

  it('renews counting from now, at today’s price, and never to an earlier end [PRG-22, PRG-23]', () => {
    const { market, listingId, input, chain } = setup();
    chain.succeed(purchaseSubscription({ ...input, durationSeconds: 7_776_000n }));
    const start = chain.now();
    expectRefusal(
      chain.send(renewSubscription({ ...input, durationSeconds: 7_776_000n })),
      'InvalidDuration',
    );
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
    expectRefusal(
      chain.send(purchaseSubscription({ ...input, listingId: market.list('one_time') })),
      'InvalidAccessType',
    );
  });

  it('is not sold by a listing that is paused or closed [PRG-24]', () => {
    const { market, listingId, input, chain } = setup();
    market.updateListing(listingId, { status: 'paused' });
    expectRefusal(chain.send(purchaseSubscription(input)), 'ListingNotActive');
    market.updateListing(listingId, { status: 'active' });
    chain.succeed(closeListing({ creator: market.creator, listingId }));
    expectRefusal(chain.send(purchaseSubscription(input)), 'ListingNotActive');
    expectRefusal(chain.send(renewSubscription(input)), 'CredentialNotFound');
  });

  it('is not renewed while listing or protocol are paused [PRG-24, PRG-34]', () => {
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

  it('costs the exact floor up to the highest price [PRG-20]', () => {
    const { market, chain, input } = setup();
    for (const price of [1_000n, 999_999_999_999_999n, 10n ** 15n]) {
      const listingId = market.list('subscription', price);
      const buyer = chain.wallet(10n ** 17n);
      const durationSeconds = 31_536_000n;
      chain.succeed(purchaseSubscription({ ...input, buyer, listingId, durationSeconds }));
      const cost = (price * durationSeconds) / MONTH;
      expect(market.escrow(listingId).earningsLamports).toBe(cost - (cost * 250n) / 10_000n);
    }
  });
});

describe('per-query balances', () => {
  function setup() {
    const market = new Market();
    const listingId = market.list('per_query');
    const input = { buyer: market.buyer, listingId, depositLamports: DEPOSIT, maxPriceLamports: PRICE };
    return { market, listingId, input, chain: market.chain };
  }

  it('holds the whole deposit, of which no fee is taken [PRG-9]', () => {
    const { market, listingId, input, chain } = setup();
    const at = market.addresses(listingId);
    const before = { buyer: chain.lamports(market.buyer), treasury: chain.lamports(market.treasury) };
    const { events } = chain.succeed(purchasePerQuery(input));
    const rents = [ACCOUNT_SIZES.AccessCredential, ACCOUNT_SIZES.PerQueryBalance].map((size) =>
      chain.rent(size),
    );
    expect(chain.lamports(at.balance)).toBe((rents[1] ?? 0n) + DEPOSIT);
    expect(chain.lamports(market.buyer)).toBe(before.buyer - DEPOSIT - (rents[0] ?? 0n) - (rents[1] ?? 0n));
    expect(chain.lamports(market.treasury)).toBe(before.treasury);
    expect(market.balance(listingId)).toMatchObject({
      version: 1,
      buyer: market.buyer,
      listing: at.listing,
      balanceLamports: DEPOSIT,
      maxPriceLamports: PRICE,
      totalDepositedLamports: DEPOSIT,
      totalSpentLamports: 0n,
      highestSequence: 0n,
      window: 0n,
    });
    expect(market.credential(listingId)).toMatchObject({
      rentalModel: 'per_query',
      valid: true,
      expiresAt: null,
    });
    expect(events).toEqual([
      {
        name: 'PerQueryPurchased',
        data: {
          listing: at.listing,
          buyer: market.buyer,
          depositLamports: DEPOSIT,
          maxPriceLamports: PRICE,
        },
      },
    ]);
  });

  it('keeps the listing’s minimum and the buyer’s cap [PRG-19]', () => {
    const { market, listingId, input, chain } = setup();
    market.updateListing(listingId, { minDepositLamports: 3n * PRICE });
    expectRefusal(
      chain.send(purchasePerQuery({ ...input, depositLamports: 3n * PRICE - 1n })),
      'DepositTooLow',
    );
    expectRefusal(
      chain.send(purchasePerQuery({ ...input, maxPriceLamports: PRICE - 1n })),
      'PriceAboveLimit',
    );
    chain.succeed(purchasePerQuery({ ...input, depositLamports: 3n * PRICE }));
  });

  it('is topped up, not bought again [PRG-33]', () => {
    const { market, listingId, input, chain } = setup();
    market.rent(listingId);
    expectRefusal(chain.send(purchasePerQuery(input)), 'InvalidAccessType');
    const topup = { ...input, amountLamports: 123n, maxPriceLamports: 5n * PRICE };
    const before = chain.lamports(market.addresses(listingId).balance);
    const { events } = chain.succeed(topupBalance(topup));
    expect(chain.lamports(market.addresses(listingId).balance)).toBe(before + 123n);
    expect(market.balance(listingId)).toMatchObject({
      balanceLamports: DEPOSIT + 123n,
      totalDepositedLamports: DEPOSIT + 123n,
      maxPriceLamports: 5n * PRICE,
    });
    expect(events).toEqual([
      {
        name: 'BalanceToppedUp',
        data: {
          listing: market.addresses(listingId).listing,
          buyer: market.buyer,
          amountLamports: 123n,
          balanceLamports: DEPOSIT + 123n,
          maxPriceLamports: 5n * PRICE,
        },
      },
    ]);
  });

  it('accepts a higher price by adding nothing [PRG-11]', () => {
    const { market, listingId, input, chain } = setup();
    market.rent(listingId);
    market.updateListing(listingId, { priceLamports: 2n * PRICE, minDepositLamports: 2n * PRICE });
    expect(market.hasAccess(listingId)).toBe(false);
    const topup = { ...input, amountLamports: 0n };
    expectRefusal(
      chain.send(topupBalance({ ...topup, maxPriceLamports: 2n * PRICE - 1n })),
      'PriceAboveLimit',
    );
    chain.succeed(topupBalance({ ...topup, maxPriceLamports: 2n * PRICE }));
    expect(market.hasAccess(listingId)).toBe(true);
    expect(market.balance(listingId).balanceLamports).toBe(DEPOSIT);
  });

  it('refuses a top-up beyond all numbers', () => {
    const { market, listingId, input, chain } = setup();
    market.rent(listingId);
    expectRefusal(chain.send(topupBalance({ ...input, amountLamports: MAX })), 'ArithmeticOverflow');
    chain.fund(market.addresses(listingId).balance, 1n);
    expect(
      chain.send(purchasePerQuery({ ...input, buyer: chain.wallet(), depositLamports: MAX })).error,
    ).toBe(6014);
  });

  it('takes no money while listing or protocol are paused, the listing closed or the credential revoked [PRG-24, PRG-34, PRG-46]', () => {
    const { market, listingId, input, chain } = setup();
    market.rent(listingId);
    const topup = topupBalance({ ...input, amountLamports: 1n });
    const buy = purchasePerQuery({ ...input, buyer: chain.wallet() });
    market.updateListing(listingId, { status: 'paused' });
    expectRefusal(chain.send(topup), 'ListingNotActive');
    expectRefusal(chain.send(buy), 'ListingNotActive');
    market.updateListing(listingId, { status: 'active' });
    market.updateProtocol({ paused: true });
    expectRefusal(chain.send(topup), 'ProtocolPaused');
    expectRefusal(chain.send(buy), 'ProtocolPaused');
    market.updateProtocol({ paused: false });
    chain.succeed(revokePerQueryAccess({ revoker: market.creator, buyer: market.buyer, listingId }));
    expectRefusal(chain.send(topup), 'CredentialRevoked');
    expectRefusal(chain.send(purchasePerQuery(input)), 'CredentialRevoked');
    chain.succeed(closeListing({ creator: market.creator, listingId }));
    expectRefusal(chain.send(buy), 'ListingNotActive');
  });

  it('needs the right credential to top up', () => {
    const { market, input, chain } = setup();
    expectRefusal(chain.send(topupBalance({ ...input, amountLamports: 1n })), 'CredentialNotFound');
    const oneTime = market.list('one_time');
    market.rent(oneTime);
    expectRefusal(
      chain.send(topupBalance({ ...input, listingId: oneTime, amountLamports: 1n })),
      'InvalidAccessType',
    );
    expectRefusal(
      chain.send(purchasePerQuery({ ...input, listingId: market.list('one_time') })),
      'InvalidAccessType',
    );
  });

  it('opens on addresses that somebody sent lamports to, which add nothing to the balance [PRG-35]', () => {
    const { market, listingId, input, chain } = setup();
    const at = market.addresses(listingId);
    chain.fund(at.balance, 10n ** 9n);
    chain.fund(at.credential, 5n);
    chain.succeed(purchasePerQuery(input));
    expect(chain.lamports(at.balance)).toBe(10n ** 9n + DEPOSIT);
    expect(market.balance(listingId).balanceLamports).toBe(DEPOSIT);
    expect(chain.account(at.balance)?.owner.equals(SystemProgram.programId)).toBe(false);
  });

  it('keeps money apart by listing and by buyer', () => {
    const { market, listingId, chain } = setup();
    const other = market.list('per_query');
    const second = chain.wallet();
    market.rent(listingId);
    market.rent(listingId, second);
    market.rent(other);
    chain.succeed(market.charge(listingId, 1n));
    expect(market.balance(listingId).balanceLamports).toBe(DEPOSIT - PRICE);
    expect(market.balance(listingId, second).balanceLamports).toBe(DEPOSIT);
    expect(market.balance(other).balanceLamports).toBe(DEPOSIT);
    chain.succeed(withdrawEarnings({ creator: market.creator, listingId }));
    expect(market.escrow(other).earningsLamports).toBe(0n);
  });
});
