import { describe, expect, it } from 'vitest';
import { ACCOUNT_SIZES } from '../accounts/accounts.js';
import { revokeAccess } from '../instructions/access.js';
import { purchaseOneTime } from '../instructions/rental.js';
import { protocolFeeLamports } from '../pricing.js';
import { expectRefusal } from '../testing/expect-refusal.js';
import { Market, PRICE } from '../testing/market.js';

describe('purchase_one_time', () => {
  function setup() {
    const market = new Market();
    const listingId = market.list('one_time');
    const input = { buyer: market.buyer, listingId, treasury: market.treasury, maxPriceLamports: PRICE };
    return { market, listingId, input, chain: market.chain };
  }

  it('moves exactly the price: the fee out of it to the treasury, the rest to the escrow [PRG-7, PRG-12]', () => {
    const { market, listingId, input, chain } = setup();
    const at = market.addresses(listingId);
    const fee = protocolFeeLamports(PRICE, 250);
    const held = () => [market.buyer, market.treasury, at.escrow].map((key) => chain.lamports(key));
    const before = held();
    const { events } = chain.succeed(purchaseOneTime(input));
    const moved = held().map((lamports, index) => lamports - (before[index] ?? 0n));
    expect(moved).toEqual([-PRICE - chain.rent(ACCOUNT_SIZES.AccessCredential), fee, PRICE - fee]);
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

  it('is refused a second time, and for ever after a revoke [PRG-13, PRG-33, PRG-46]', () => {
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

  it('is refused while listing or protocol are paused, or the listing closed [PRG-24, TXN-6]', () => {
    const { market, listingId, input, chain } = setup();
    market.updateListing(listingId, { status: 'paused' });
    expectRefusal(chain.send(purchaseOneTime(input)), 'ListingNotActive');
    market.updateListing(listingId, { status: 'active' });
    market.updateProtocol({ paused: true });
    expectRefusal(chain.send(purchaseOneTime(input)), 'ProtocolPaused');
    market.updateProtocol({ paused: false });
    chain.succeed(market.close(listingId));
    expectRefusal(chain.send(purchaseOneTime(input)), 'ListingNotActive');
  });

  it('is refused on a listing of another model', () => {
    const { market, input, chain } = setup();
    for (const model of ['subscription', 'per_query'] as const) {
      const other = purchaseOneTime({ ...input, listingId: market.list(model) });
      expectRefusal(chain.send(other), 'InvalidAccessType');
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

  it('changes nothing for a buyer without the money [TXN-6]', () => {
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

  it('works on an address that already holds lamports [PRG-35]', () => {
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
});
