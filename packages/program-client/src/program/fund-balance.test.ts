import { PublicKey } from '@solana/web3.js';
import { describe, expect, it } from 'vitest';
import { ACCOUNT_SIZES } from '../accounts/accounts.js';
import { fundBalance, topupBalance } from '../instructions/rental.js';
import { expectRefusal } from '../testing/expect-refusal.js';
import { DEPOSIT, Market, PRICE } from '../testing/market.js';

function setup() {
  const market = new Market();
  const { chain } = market;
  const listingId = market.list('per_query');
  market.updateListing(listingId, { minDepositLamports: DEPOSIT });
  // A wallet that never signs, and has no lamports.
  const buyer = PublicKey.unique();
  const payer = chain.wallet();
  const input = {
    payer,
    authority: market.authority,
    buyer,
    listingId,
    amountLamports: DEPOSIT,
    maxPriceLamports: PRICE,
  };
  return { market, chain, listingId, buyer, payer, input, at: market.addresses(listingId, buyer) };
}

describe('a balance that another wallet funds', () => {
  it('is opened at the expense of the payer, and belongs to the buyer', () => {
    const { market, chain, listingId, buyer, payer, input, at } = setup();
    const before = chain.lamports(payer);
    const { events } = chain.succeed(fundBalance(input));
    const rents = chain.rent(ACCOUNT_SIZES.AccessCredential) + chain.rent(ACCOUNT_SIZES.PerQueryBalance);
    expect(chain.lamports(payer)).toBe(before - DEPOSIT - rents);
    expect(chain.lamports(buyer)).toBe(0n);
    expect(market.credential(listingId, buyer)).toMatchObject({
      buyer,
      rentalModel: 'per_query',
      valid: true,
    });
    expect(market.balance(listingId, buyer)).toMatchObject({
      buyer,
      listing: at.listing,
      balanceLamports: DEPOSIT,
      maxPriceLamports: PRICE,
      totalDepositedLamports: DEPOSIT,
    });
    expect(events).toEqual([
      {
        name: 'BalanceToppedUp',
        data: {
          listing: at.listing,
          buyer,
          amountLamports: DEPOSIT,
          balanceLamports: DEPOSIT,
          maxPriceLamports: PRICE,
        },
      },
    ]);
    chain.succeed(market.charge(listingId, undefined, { buyer }));
    const rent = chain.rent(ACCOUNT_SIZES.PerQueryBalance);
    chain.succeed(market.revoke(listingId, market.creator, buyer));
    expect(chain.lamports(buyer)).toBe(DEPOSIT - PRICE + rent);
  });

  it('grows by a price or more, and the cap is raised to the price alone', () => {
    const { market, chain, listingId, buyer, input } = setup();
    chain.succeed(fundBalance(input));
    expectRefusal(chain.send(fundBalance({ ...input, amountLamports: PRICE - 1n })), 'DepositTooLow');
    chain.succeed(fundBalance({ ...input, amountLamports: PRICE, maxPriceLamports: 2n ** 64n - 1n }));
    const balance = () => market.balance(listingId, buyer);
    expect(balance()).toMatchObject({ balanceLamports: DEPOSIT + PRICE, maxPriceLamports: PRICE });
    market.updateListing(listingId, { priceLamports: PRICE + 1n });
    expectRefusal(chain.send(fundBalance(input)), 'PriceAboveLimit');
    chain.succeed(fundBalance({ ...input, maxPriceLamports: PRICE + 5n }));
    expect(balance()).toMatchObject({ maxPriceLamports: PRICE + 1n });
  });

  it('keeps a higher cap that the buyer agreed to', () => {
    const { market, chain, listingId, input } = setup();
    const own = { ...input, buyer: market.buyer };
    market.rent(listingId);
    chain.succeed(topupBalance({ ...own, amountLamports: 0n, maxPriceLamports: 3n * PRICE }));
    chain.succeed(fundBalance(own));
    expect(market.balance(listingId)).toMatchObject({ maxPriceLamports: 3n * PRICE });
  });

  it('needs one of the two authorities: no other signer gives a wallet a rental', () => {
    const { market, chain, payer, input } = setup();
    for (const authority of [market.admin, market.creator, payer])
      expectRefusal(chain.send(fundBalance({ ...input, authority })), 'Unauthorized');
  });

  it('opens with the minimum of the listing at least', () => {
    const { chain, input } = setup();
    expectRefusal(chain.send(fundBalance({ ...input, amountLamports: DEPOSIT - 1n })), 'DepositTooLow');
  });

  it('is of a Per-Task listing alone', () => {
    const { market, chain, input } = setup();
    const listingId = market.list('one_time');
    expectRefusal(chain.send(fundBalance({ ...input, listingId })), 'InvalidAccessType');
  });

  it('is not funded again after a revocation, nor while the listing or the protocol is paused', () => {
    const { market, chain, listingId, buyer, input } = setup();
    chain.succeed(fundBalance(input));
    market.updateListing(listingId, { status: 'paused' });
    expectRefusal(chain.send(fundBalance(input)), 'ListingNotActive');
    market.updateListing(listingId, { status: 'active' });
    market.updateProtocol({ paused: true });
    expectRefusal(chain.send(fundBalance(input)), 'ProtocolPaused');
    market.updateProtocol({ paused: false });
    chain.succeed(market.revoke(listingId, market.creator, buyer));
    expectRefusal(chain.send(fundBalance(input)), 'CredentialRevoked');
  });
});
