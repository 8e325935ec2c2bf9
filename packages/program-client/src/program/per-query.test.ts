import { SystemProgram } from '@solana/web3.js';
import { describe, expect, it } from 'vitest';
import { ACCOUNT_SIZES } from '../accounts/accounts.js';
import { purchasePerQuery, topupBalance } from '../instructions/rental.js';
import { expectRefusal } from '../testing/expect-refusal.js';
import { DEPOSIT, Market, PRICE } from '../testing/market.js';

const MAX = 2n ** 64n - 1n;

describe('per-query balances', () => {
  function setup() {
    const market = new Market();
    const listingId = market.list('per_query');
    const input = { buyer: market.buyer, listingId, depositLamports: DEPOSIT, maxPriceLamports: PRICE };
    return { market, listingId, input, chain: market.chain };
  }

  it('holds the whole deposit, of which no fee is taken [PRG-7]', () => {
    const { market, listingId, input, chain } = setup();
    const at = market.addresses(listingId);
    const before = { buyer: chain.lamports(market.buyer), treasury: chain.lamports(market.treasury) };
    const { events } = chain.succeed(purchasePerQuery(input));
    const [rent, balanceRent] = [
      chain.rent(ACCOUNT_SIZES.AccessCredential),
      chain.rent(ACCOUNT_SIZES.PerQueryBalance),
    ];
    expect(chain.lamports(at.balance)).toBe(balanceRent + DEPOSIT);
    expect(chain.lamports(market.buyer)).toBe(before.buyer - DEPOSIT - rent - balanceRent);
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
        data: { listing: at.listing, buyer: market.buyer, depositLamports: DEPOSIT, maxPriceLamports: PRICE },
      },
    ]);
  });

  it('keeps the listing’s minimum and the buyer’s cap [PRG-15]', () => {
    const { market, listingId, input, chain } = setup();
    market.updateListing(listingId, { minDepositLamports: 3n * PRICE });
    const buy = (changes: object) => chain.send(purchasePerQuery({ ...input, ...changes }));
    expectRefusal(buy({ depositLamports: 3n * PRICE - 1n }), 'DepositTooLow');
    expectRefusal(buy({ maxPriceLamports: PRICE - 1n }), 'PriceAboveLimit');
    expect(buy({ depositLamports: 3n * PRICE }).error).toBeNull();
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

  it('accepts a higher price by adding nothing [PRG-10]', () => {
    const { market, listingId, input, chain } = setup();
    market.rent(listingId);
    market.updateListing(listingId, { priceLamports: 2n * PRICE, minDepositLamports: 2n * PRICE });
    expect(market.hasAccess(listingId)).toBe(false);
    const agree = (maxPriceLamports: bigint) =>
      chain.send(topupBalance({ ...input, amountLamports: 0n, maxPriceLamports }));
    expectRefusal(agree(2n * PRICE - 1n), 'PriceAboveLimit');
    expect(agree(2n * PRICE).error).toBeNull();
    expect(market.hasAccess(listingId)).toBe(true);
    expect(market.balance(listingId).balanceLamports).toBe(DEPOSIT);
  });

  it('refuses a top-up beyond all numbers', () => {
    const { market, listingId, input, chain } = setup();
    market.rent(listingId);
    expectRefusal(chain.send(topupBalance({ ...input, amountLamports: MAX })), 'ArithmeticOverflow');
    chain.fund(market.addresses(listingId).balance, 1n);
    const purchase = purchasePerQuery({ ...input, buyer: chain.wallet(), depositLamports: MAX });
    expectRefusal(chain.send(purchase), 'ArithmeticOverflow');
  });

  it('takes no money while listing or protocol are paused, the listing closed or the credential revoked [PRG-24, PRG-46]', () => {
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
    chain.succeed(market.revoke(listingId, market.creator));
    expectRefusal(chain.send(topup), 'CredentialRevoked');
    expectRefusal(chain.send(purchasePerQuery(input)), 'CredentialRevoked');
    chain.succeed(market.close(listingId));
    expectRefusal(chain.send(buy), 'ListingNotActive');
  });

  it('needs the right credential to top up', () => {
    const { market, input, chain } = setup();
    expectRefusal(chain.send(topupBalance({ ...input, amountLamports: 1n })), 'CredentialNotFound');
    const oneTime = market.list('one_time');
    market.rent(oneTime);
    const topup = topupBalance({ ...input, listingId: oneTime, amountLamports: 1n });
    expectRefusal(chain.send(topup), 'InvalidAccessType');
    const purchase = purchasePerQuery({ ...input, listingId: market.list('one_time') });
    expectRefusal(chain.send(purchase), 'InvalidAccessType');
  });

  it('opens on addresses that already hold lamports, which add nothing to the balance [PRG-35]', () => {
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
    chain.succeed(market.withdraw(listingId));
    expect(market.escrow(other).earningsLamports).toBe(0n);
  });
});
