import { describe, expect, it } from 'vitest';
import { ACCOUNT_SIZES } from '../accounts/accounts.js';
import { createListing, updateListing, type CreateListingInput } from './listing.js';
import { protocolFeeLamports } from '../pricing.js';
import type { RentalModel } from '../rental-model.js';
import { expectRefusal } from '../testing/expect-refusal.js';
import { Market, MONTH, PRICE } from '../testing/market.js';

function input(market: Market, changes: Partial<CreateListingInput> = {}): CreateListingInput {
  return {
    creator: market.creator,
    authority: market.authority,
    listingId: 'expense-audit-k3x9q2',
    rentalModel: 'per_query',
    priceLamports: PRICE,
    minDepositLamports: 3n * PRICE,
    metadataUri: 'ipfs://bafybeigdyrzt5sfp7udm7hu76uh7y26nf3efuylqabf3oclgtqy55fbzdi',
    ...changes,
  };
}

function listed(model: RentalModel) {
  const market = new Market();
  return { market, chain: market.chain, id: market.list(model) };
}

describe('create_listing', () => {
  const setup = () => {
    const market = new Market();
    const send = (changes?: Partial<CreateListingInput>) =>
      market.chain.send(createListing(input(market, changes)));
    const succeed = (changes?: Partial<CreateListingInput>) =>
      market.chain.succeed(createListing(input(market, changes)));
    return { market, chain: market.chain, send, succeed };
  };

  it('writes the listing and an empty escrow', () => {
    const { market, chain, succeed } = setup();
    const { creator } = market;
    const given = input(market);
    const { events } = succeed();
    const at = market.addresses(given.listingId);
    expect(market.listing(given.listingId)).toMatchObject({
      version: 1,
      creator,
      rentalModel: 'per_query',
      status: 'active',
      priceLamports: PRICE,
      minDepositLamports: 3n * PRICE,
      pausedAt: null,
      latestSubscriptionExpiry: 0n,
      revision: 0n,
      createdAt: chain.now(),
      updatedAt: chain.now(),
      listingId: given.listingId,
      metadataUri: given.metadataUri,
    });
    expect(market.escrow(given.listingId)).toMatchObject({
      listing: at.listing,
      earningsLamports: 0n,
      totalEarnedLamports: 0n,
    });
    expect(chain.lamports(at.listing)).toBe(chain.rent(ACCOUNT_SIZES.Listing));
    expect(chain.lamports(at.escrow)).toBe(chain.rent(ACCOUNT_SIZES.Escrow));
    expect(events).toEqual([
      {
        name: 'ListingCreated',
        data: {
          listing: at.listing,
          creator,
          rentalModel: 'per_query',
          priceLamports: PRICE,
          minDepositLamports: 3n * PRICE,
          listingId: given.listingId,
        },
      },
    ]);
  });

  it('takes the longest id, the longest URI and UTF-8 in both [PRG-15]', () => {
    const { market, succeed } = setup();
    for (const [listingId, metadataUri] of [
      ['x'.repeat(32), 'u'.repeat(200)],
      ['a', ''],
      ['é'.repeat(16), '語'.repeat(66)],
    ] as const) {
      succeed({ listingId, metadataUri });
      expect(market.listing(listingId)).toMatchObject({ listingId, metadataUri });
    }
  });

  it('stores no deposit minimum for models without a deposit', () => {
    const { market, succeed } = setup();
    succeed({ rentalModel: 'one_time', minDepositLamports: 7n });
    expect(market.listing(input(market).listingId).minDepositLamports).toBe(0n);
  });

  it('needs the authority’s signature beside the creator’s [PRG-15]', () => {
    const { market, chain, send, succeed } = setup();
    for (const authority of [market.creator, market.admin, chain.wallet()])
      expectRefusal(send({ authority }), 'Unauthorized');
    const next = chain.wallet();
    market.updateProtocol({ nextAuthority: next });
    succeed({ authority: next });
  });

  it('uses an id once [PRG-15, PRG-27]', () => {
    const { market, chain, send, succeed } = setup();
    succeed();
    expectRefusal(send(), 'AccountDiscriminatorAlreadySet');
    chain.succeed(market.close(input(market).listingId));
    expectRefusal(send({ creator: chain.wallet() }), 'AccountDiscriminatorAlreadySet');
  });

  it.each<[string, Partial<CreateListingInput>]>([
    ['PriceTooLow', { rentalModel: 'one_time', priceLamports: 999n }],
    ['PriceTooLow', { rentalModel: 'subscription', priceLamports: 0n }],
    ['PriceTooLow', { priceLamports: 199_999n }],
    ['ArithmeticOverflow', { rentalModel: 'one_time', priceLamports: 10n ** 15n + 1n }],
    ['ArithmeticOverflow', { rentalModel: 'subscription', priceLamports: 2n ** 64n - 1n }],
    ['ArithmeticOverflow', { minDepositLamports: 10n ** 15n + 1n }],
    ['DepositTooLow', { minDepositLamports: PRICE - 1n }],
    ['MetadataUriTooLong', { metadataUri: 'u'.repeat(201) }],
  ])('refuses with %s %o [PRG-15]', (name, changes) => {
    expectRefusal(setup().send(changes), name);
  });

  it.each<Partial<CreateListingInput>>([
    { rentalModel: 'one_time', priceLamports: 1_000n },
    { rentalModel: 'subscription', priceLamports: 10n ** 15n },
    { priceLamports: 200_000n, minDepositLamports: 200_000n },
    { priceLamports: 10n ** 15n, minDepositLamports: 10n ** 15n },
  ])('takes the ends of the ranges: %o [PRG-15]', (changes) => {
    setup().succeed(changes);
  });

  /** Sends the instruction with other bytes in place of its data. */
  const sendData = (change: (data: Buffer) => Uint8Array) => {
    const { market, chain } = setup();
    const instruction = createListing(input(market, { listingId: 'ab' }));
    return chain.send(Object.assign(instruction, { data: change(Buffer.from(instruction.data)) }));
  };

  it('refuses an empty id and one that cannot be a seed [PRG-15]', () => {
    for (const length of [0, 33]) {
      const id = Buffer.concat([Buffer.from([length, 0, 0, 0]), Buffer.alloc(length, 97)]);
      const outcome = sendData((data) => Buffer.concat([data.subarray(0, 8), id, data.subarray(14)]));
      expectRefusal(outcome, 'InstructionDidNotDeserialize');
    }
    for (const listingId of ['', 'x'.repeat(33)])
      expect(() => setup().send({ listingId })).toThrow(RangeError);
  });

  it('refuses text that is not UTF-8, unknown models and bytes too many or too few', () => {
    for (const change of [
      (data: Buffer) => data.fill(0xff, 12, 13),
      (data: Buffer) => data.fill(3, 14, 15),
      (data: Buffer) => Buffer.concat([data, Buffer.from([0])]),
      (data: Buffer) => data.subarray(0, -1),
      (data: Buffer) => data.subarray(0, 8),
    ])
      expectRefusal(sendData(change), 'InstructionDidNotDeserialize');
  });

  it('is refused while the protocol is paused [PRG-24]', () => {
    const { market, send } = setup();
    market.updateProtocol({ paused: true });
    expectRefusal(send(), 'ProtocolPaused');
  });

  it('works on addresses that already hold lamports [PRG-35]', () => {
    const { market, chain, succeed } = setup();
    const given = input(market);
    const at = market.addresses(given.listingId);
    chain.fund(at.listing, 1n);
    chain.fund(at.escrow, 10n ** 9n);
    succeed();
    expect(chain.lamports(at.listing)).toBe(chain.rent(ACCOUNT_SIZES.Listing));
    expect(chain.lamports(at.escrow)).toBe(10n ** 9n);
    expect(market.escrow(given.listingId).earningsLamports).toBe(0n);
  });
});

describe('update_listing', () => {
  it('changes the given values, counts, and keeps the others', () => {
    const { market, chain, id } = listed('per_query');
    const before = market.listing(id);
    chain.setTime(chain.now() + 60n);
    const { events } = market.updateListing(id, {
      priceLamports: 2n * PRICE,
      minDepositLamports: 5n * PRICE,
    });
    expect(market.listing(id)).toEqual({
      ...before,
      priceLamports: 2n * PRICE,
      minDepositLamports: 5n * PRICE,
      revision: 1n,
      updatedAt: before.updatedAt + 60n,
      previousPriceLamports: PRICE,
      priceChangedAt: before.updatedAt + 60n,
    });
    expect(events).toEqual([
      {
        name: 'ListingUpdated',
        data: {
          listing: market.addresses(id).listing,
          revision: 1n,
          paused: false,
          priceLamports: 2n * PRICE,
          minDepositLamports: 5n * PRICE,
        },
      },
    ]);
  });

  it('replaces a long URI by a short one and back, and leaves nothing of the old', () => {
    const { market, chain, id } = listed('one_time');
    for (const metadataUri of ['u'.repeat(200), 'ar://x', '', 'ipfs://bafy']) {
      market.updateListing(id, { metadataUri });
      expect(market.listing(id).metadataUri).toBe(metadataUri);
      const data = chain.data(market.addresses(id).listing);
      const behind = data.subarray(132 + 4 + id.length + 4 + metadataUri.length);
      expect(behind.every((byte) => byte === 0)).toBe(true);
    }
  });

  it('pauses and resumes; pausing again does not restart the time [PRG-24]', () => {
    const { market, chain, id } = listed('one_time');
    const pausedAt = chain.now();
    expect(market.updateListing(id, { status: 'paused' }).events[0]?.data).toMatchObject({ paused: true });
    chain.setTime(pausedAt + 100n);
    market.updateListing(id, { status: 'paused' });
    expect(market.listing(id)).toMatchObject({ status: 'paused', pausedAt, revision: 2n });
    market.updateListing(id, { metadataUri: 'x' });
    expect(market.listing(id)).toMatchObject({ status: 'paused', pausedAt });
    market.updateListing(id, { status: 'active' });
    expect(market.listing(id)).toMatchObject({ status: 'active', pausedAt: null });
  });

  it('checks the values by the same rules', () => {
    const { market, chain, id } = listed('per_query');
    const { creator } = market;
    const send = (changes: object) => chain.send(updateListing({ creator, listingId: id, ...changes }));
    expectRefusal(send({ priceLamports: 199_999n }), 'PriceTooLow');
    expectRefusal(send({ priceLamports: 10n ** 15n + 1n }), 'ArithmeticOverflow');
    expectRefusal(send({ priceLamports: 2n * PRICE }), 'DepositTooLow');
    expectRefusal(send({ minDepositLamports: PRICE - 1n }), 'DepositTooLow');
    expectRefusal(send({ metadataUri: 'u'.repeat(201) }), 'MetadataUriTooLong');
    market.updateProtocol({ minQueryPriceLamports: 2n * PRICE });
    expectRefusal(send({ minDepositLamports: 9n * PRICE }), 'PriceTooLow');
    market.updateListing(id, { status: 'paused' });
  });

  it('is refused on a closed listing', () => {
    const { market, chain, id } = listed('one_time');
    chain.succeed(market.close(id));
    for (const status of ['active', 'paused'] as const) {
      const update = updateListing({ creator: market.creator, listingId: id, status });
      expectRefusal(chain.send(update), 'ListingNotActive');
    }
  });
});

describe('close_listing', () => {
  it('leaves a tombstone, and invalidates every credential [PRG-27]', () => {
    const { market, chain, id } = listed('one_time');
    market.rent(id);
    chain.succeed(market.withdraw(id));
    const lamports = chain.lamports(market.addresses(id).listing);
    const { events } = chain.succeed(market.close(id));
    expect(market.listing(id)).toMatchObject({ status: 'closed', pausedAt: null, listingId: id });
    expect(chain.lamports(market.addresses(id).listing)).toBe(lamports);
    expect(market.hasAccess(id)).toBe(false);
    expect(events).toEqual([
      { name: 'ListingClosed', data: { listing: market.addresses(id).listing, creator: market.creator } },
    ]);
    expectRefusal(chain.send(market.close(id)), 'ListingNotActive');
  });

  it('waits for the last subscription and for the escrow [PRG-27]', () => {
    const { market, chain, id } = listed('subscription');
    const close = market.close(id);
    market.rent(id);
    market.rent(id, chain.wallet(), 365n * 86_400n);
    const end = chain.now() + 365n * 86_400n;
    chain.setTime(end - 1n);
    expectRefusal(chain.send(close), 'ActiveSubscribers');
    chain.setTime(end);
    expectRefusal(chain.send(close), 'EscrowNotEmpty');
    chain.succeed(market.withdraw(id), close);
  });

  it('is not held up by donated lamports, and closes a paused listing [PRG-24, PRG-35]', () => {
    const { market, chain, id } = listed('one_time');
    chain.fund(market.addresses(id).escrow, 12_345n);
    market.updateListing(id, { status: 'paused' });
    market.updateProtocol({ paused: true });
    chain.succeed(market.close(id));
  });
});

describe('withdraw_earnings', () => {
  it('pays the earnings, in parts and then the rest [PRG-36, MON-11]', () => {
    const { market, chain, id } = listed('one_time');
    market.rent(id);
    const earned = PRICE - protocolFeeLamports(PRICE, 250);
    const { creator } = market;
    const before = chain.lamports(creator);
    const { events } = chain.succeed(market.withdraw(id, 1_000n));
    expect(chain.lamports(creator)).toBe(before + 1_000n);
    expect(events).toEqual([
      {
        name: 'EarningsWithdrawn',
        data: {
          listing: market.addresses(id).listing,
          creator,
          amountLamports: 1_000n,
          remainingLamports: earned - 1_000n,
        },
      },
    ]);
    chain.succeed(market.withdraw(id));
    expect(chain.lamports(creator)).toBe(before + earned);
    expect(market.escrow(id)).toMatchObject({ earningsLamports: 0n, totalEarnedLamports: earned });
    expect(chain.lamports(market.addresses(id).escrow)).toBe(chain.rent(ACCOUNT_SIZES.Escrow));
  });

  it('pays neither more than the earnings, nor nothing, nor donated lamports [PRG-36]', () => {
    const { market, chain, id } = listed('one_time');
    chain.fund(market.addresses(id).escrow, 10n ** 9n);
    const withdraw = (amountLamports?: bigint) => chain.send(market.withdraw(id, amountLamports));
    expectRefusal(withdraw(), 'NothingToWithdraw');
    expectRefusal(withdraw(0n), 'NothingToWithdraw');
    expectRefusal(withdraw(1n), 'WithdrawalExceedsBalance');
    market.rent(id);
    const earned = market.escrow(id).earningsLamports;
    expectRefusal(withdraw(earned + 1n), 'WithdrawalExceedsBalance');
    expectRefusal(withdraw(2n ** 64n - 1n), 'WithdrawalExceedsBalance');
    chain.succeed(market.withdraw(id, earned));
    expect(chain.lamports(market.addresses(id).escrow)).toBe(chain.rent(ACCOUNT_SIZES.Escrow) + 10n ** 9n);
  });
});

it('a listing is changed, closed and paid out for its creator alone, also while all is paused', () => {
  const { market, chain, id } = listed('subscription');
  market.rent(id, market.buyer, MONTH);
  for (const creator of [market.admin, market.authority, market.buyer]) {
    for (const instruction of [
      updateListing({ creator, listingId: id }),
      market.close(id, creator),
      market.withdraw(id, undefined, creator),
    ])
      expectRefusal(chain.send(instruction), 'Unauthorized');
  }
  market.updateListing(id, { status: 'paused' });
  market.updateProtocol({ paused: true });
  market.updateListing(id, { priceLamports: 2n * PRICE });
  chain.succeed(market.withdraw(id));
});
