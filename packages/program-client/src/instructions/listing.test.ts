import { describe, expect, it } from 'vitest';
import { ACCOUNT_SIZES } from '../accounts/accounts.js';
import {
  closeListing,
  createListing,
  updateListing,
  withdrawEarnings,
  type CreateListingInput,
} from './listing.js';
import { protocolFeeLamports } from '../pricing.js';
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
    programId: market.programId,
    ...changes,
  };
}

describe('create_listing', () => {
  it('writes the listing and an empty escrow', () => {
    const market = new Market();
    const { chain, creator } = market;
    const given = input(market);
    const { events } = chain.succeed(createListing(given));
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
    const market = new Market();
    for (const [listingId, metadataUri] of [
      ['x'.repeat(32), 'u'.repeat(200)],
      ['a', ''],
      ['é'.repeat(16), '語'.repeat(66)],
    ] as const) {
      market.chain.succeed(createListing(input(market, { listingId, metadataUri })));
      expect(market.listing(listingId)).toMatchObject({ listingId, metadataUri });
    }
  });

  it('stores no deposit minimum for models without a deposit', () => {
    const market = new Market();
    market.chain.succeed(createListing(input(market, { rentalModel: 'one_time', minDepositLamports: 7n })));
    expect(market.listing(input(market).listingId).minDepositLamports).toBe(0n);
  });

  it('needs the authority’s signature beside the creator’s [PRG-15]', () => {
    const market = new Market();
    for (const authority of [market.creator, market.admin, market.chain.wallet()]) {
      expectRefusal(market.chain.send(createListing(input(market, { authority }))), 'Unauthorized');
    }
    const next = market.chain.wallet();
    market.updateProtocol({ nextAuthority: next });
    market.chain.succeed(createListing(input(market, { authority: next })));
  });

  it('uses an id once [PRG-15, PRG-27]', () => {
    const market = new Market();
    market.chain.succeed(createListing(input(market)));
    expectRefusal(market.chain.send(createListing(input(market))), 'AccountDiscriminatorAlreadySet');
    market.chain.succeed(closeListing({ creator: market.creator, listingId: input(market).listingId }));
    const other = market.chain.wallet();
    expectRefusal(
      market.chain.send(createListing(input(market, { creator: other }))),
      'AccountDiscriminatorAlreadySet',
    );
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
    const market = new Market();
    expectRefusal(market.chain.send(createListing(input(market, changes))), name);
  });

  it.each<Partial<CreateListingInput>>([
    { rentalModel: 'one_time', priceLamports: 1_000n },
    { rentalModel: 'subscription', priceLamports: 10n ** 15n },
    { priceLamports: 200_000n, minDepositLamports: 200_000n },
    { priceLamports: 10n ** 15n, minDepositLamports: 10n ** 15n },
  ])('takes the ends of the ranges: %o [PRG-15]', (changes) => {
    const market = new Market();
    market.chain.succeed(createListing(input(market, changes)));
  });

  it('refuses an empty id and one that cannot be a seed [PRG-15]', () => {
    const market = new Market();
    const instruction = createListing(input(market, { listingId: 'ab' }));
    for (const length of [0, 33]) {
      const data = Buffer.concat([
        instruction.data.subarray(0, 8),
        Buffer.from([length, 0, 0, 0]),
        Buffer.alloc(length, 97),
        instruction.data.subarray(14),
      ]);
      const changed = Object.assign(createListing(input(market, { listingId: 'ab' })), { data });
      expectRefusal(market.chain.send(changed), 'InstructionDidNotDeserialize');
    }
    expect(() => createListing(input(market, { listingId: '' }))).toThrow(RangeError);
    expect(() => createListing(input(market, { listingId: 'x'.repeat(33) }))).toThrow(RangeError);
  });

  it('refuses text that is not UTF-8, unknown models and bytes too many or too few', () => {
    const market = new Market();
    const instruction = createListing(input(market, { listingId: 'ab' }));
    const withByte = (at: number, value: number) => {
      const data = Buffer.from(instruction.data);
      data[at] = value;
      return Object.assign(createListing(input(market, { listingId: 'ab' })), { data });
    };
    expectRefusal(market.chain.send(withByte(12, 0xff)), 'InstructionDidNotDeserialize');
    expectRefusal(market.chain.send(withByte(14, 3)), 'InstructionDidNotDeserialize');
    for (const data of [
      Buffer.concat([instruction.data, Buffer.from([0])]),
      instruction.data.subarray(0, -1),
      instruction.data.subarray(0, 8),
    ]) {
      const changed = Object.assign(createListing(input(market, { listingId: 'ab' })), { data });
      expectRefusal(market.chain.send(changed), 'InstructionDidNotDeserialize');
    }
  });

  it('is refused while the protocol is paused [PRG-24]', () => {
    const market = new Market();
    market.updateProtocol({ paused: true });
    expectRefusal(market.chain.send(createListing(input(market))), 'ProtocolPaused');
  });

  it('works on addresses that already hold lamports [PRG-35]', () => {
    const market = new Market();
    const given = input(market);
    const at = market.addresses(given.listingId);
    market.chain.fund(at.listing, 1n);
    market.chain.fund(at.escrow, 10n ** 9n);
    market.chain.succeed(createListing(given));
    expect(market.chain.lamports(at.listing)).toBe(market.chain.rent(ACCOUNT_SIZES.Listing));
    expect(market.chain.lamports(at.escrow)).toBe(10n ** 9n);
    expect(market.escrow(given.listingId).earningsLamports).toBe(0n);
  });
});

describe('update_listing', () => {
  it('changes the given values, counts, and keeps the others', () => {
    const market = new Market();
    const id = market.list('per_query');
    const before = market.listing(id);
    market.chain.setTime(market.chain.now() + 60n);
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
    const market = new Market();
    const id = market.list('one_time');
    for (const metadataUri of ['u'.repeat(200), 'ar://x', '', 'ipfs://bafy']) {
      market.updateListing(id, { metadataUri });
      expect(market.listing(id).metadataUri).toBe(metadataUri);
      const data = market.chain.data(market.addresses(id).listing);
      expect(data.subarray(132 + 4 + id.length + 4 + metadataUri.length).every((byte) => byte === 0)).toBe(
        true,
      );
    }
  });

  it('pauses and resumes; pausing again does not restart the time [PRG-24]', () => {
    const market = new Market();
    const id = market.list('one_time');
    const pausedAt = market.chain.now();
    expect(market.updateListing(id, { status: 'paused' }).events[0]?.data).toMatchObject({ paused: true });
    market.chain.setTime(pausedAt + 100n);
    market.updateListing(id, { status: 'paused' });
    expect(market.listing(id)).toMatchObject({ status: 'paused', pausedAt, revision: 2n });
    market.updateListing(id, { metadataUri: 'x' });
    expect(market.listing(id)).toMatchObject({ status: 'paused', pausedAt });
    market.updateListing(id, { status: 'active' });
    expect(market.listing(id)).toMatchObject({ status: 'active', pausedAt: null });
  });

  it('is for the creator alone, also while the protocol is paused', () => {
    const market = new Market();
    const id = market.list('one_time');
    for (const creator of [market.authority, market.admin, market.buyer]) {
      expectRefusal(market.chain.send(updateListing({ creator, listingId: id })), 'Unauthorized');
    }
    market.updateProtocol({ paused: true });
    market.updateListing(id, { priceLamports: 2n * PRICE });
  });

  it('checks the values by the same rules', () => {
    const market = new Market();
    const id = market.list('per_query');
    const send = (changes: object) =>
      market.chain.send(updateListing({ creator: market.creator, listingId: id, ...changes }));
    expectRefusal(send({ priceLamports: 199_999n }), 'PriceTooLow');
    expectRefusal(send({ priceLamports: 10n ** 15n + 1n }), 'ArithmeticOverflow');
    expectRefusal(send({ priceLamports: 2n * PRICE }), 'DepositTooLow');
    expectRefusal(send({ minDepositLamports: PRICE - 1n }), 'DepositTooLow');
    expectRefusal(send({ metadataUri: 'u'.repeat(201) }), 'MetadataUriTooLong');
    market.updateProtocol({ minQueryPriceLamports: 2n * PRICE });
    expectRefusal(send({ minDepositLamports: 9n * PRICE }), 'PriceTooLow');
    market.chain.succeed(updateListing({ creator: market.creator, listingId: id, status: 'paused' }));
  });

  it('is refused on a closed listing', () => {
    const market = new Market();
    const id = market.list('one_time');
    market.chain.succeed(closeListing({ creator: market.creator, listingId: id }));
    for (const status of ['active', 'paused'] as const) {
      expectRefusal(
        market.chain.send(updateListing({ creator: market.creator, listingId: id, status })),
        'ListingNotActive',
      );
    }
  });
});

describe('close_listing', () => {
  it('leaves a tombstone, and invalidates every credential [PRG-27]', () => {
    const market = new Market();
    const id = market.list('one_time');
    market.rent(id);
    market.chain.succeed(withdrawEarnings({ creator: market.creator, listingId: id }));
    const lamports = market.chain.lamports(market.addresses(id).listing);
    const { events } = market.chain.succeed(closeListing({ creator: market.creator, listingId: id }));
    expect(market.listing(id)).toMatchObject({ status: 'closed', pausedAt: null, listingId: id });
    expect(market.chain.lamports(market.addresses(id).listing)).toBe(lamports);
    expect(market.hasAccess(id)).toBe(false);
    expect(events).toEqual([
      { name: 'ListingClosed', data: { listing: market.addresses(id).listing, creator: market.creator } },
    ]);
    expectRefusal(
      market.chain.send(closeListing({ creator: market.creator, listingId: id })),
      'ListingNotActive',
    );
  });

  it('waits for the last subscription and for the escrow [PRG-27]', () => {
    const market = new Market();
    const id = market.list('subscription');
    const close = closeListing({ creator: market.creator, listingId: id });
    market.rent(id);
    market.rent(id, market.chain.wallet(), 365n * 86_400n);
    const end = market.chain.now() + 365n * 86_400n;
    market.chain.setTime(end - 1n);
    expectRefusal(market.chain.send(close), 'ActiveSubscribers');
    market.chain.setTime(end);
    expectRefusal(market.chain.send(close), 'EscrowNotEmpty');
    market.chain.succeed(withdrawEarnings({ creator: market.creator, listingId: id }), close);
  });

  it('is not held up by donated lamports, and closes a paused listing [PRG-24, PRG-35]', () => {
    const market = new Market();
    const id = market.list('one_time');
    market.chain.fund(market.addresses(id).escrow, 12_345n);
    market.updateListing(id, { status: 'paused' });
    market.updateProtocol({ paused: true });
    market.chain.succeed(closeListing({ creator: market.creator, listingId: id }));
  });

  it('is the creator’s', () => {
    const market = new Market();
    const id = market.list('one_time');
    for (const creator of [market.admin, market.authority, market.buyer]) {
      expectRefusal(market.chain.send(closeListing({ creator, listingId: id })), 'Unauthorized');
    }
  });
});

describe('withdraw_earnings', () => {
  it('pays the earnings, in parts and then the rest [PRG-36, MON-11]', () => {
    const market = new Market();
    const id = market.list('one_time');
    market.rent(id);
    const earned = PRICE - protocolFeeLamports(PRICE, 250);
    const { chain, creator } = market;
    const before = chain.lamports(creator);
    const { events } = chain.succeed(withdrawEarnings({ creator, listingId: id, amountLamports: 1_000n }));
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
    chain.succeed(withdrawEarnings({ creator, listingId: id }));
    expect(chain.lamports(creator)).toBe(before + earned);
    expect(market.escrow(id)).toMatchObject({ earningsLamports: 0n, totalEarnedLamports: earned });
    expect(chain.lamports(market.addresses(id).escrow)).toBe(chain.rent(ACCOUNT_SIZES.Escrow));
  });

  it('pays neither more than the earnings, nor nothing, nor donated lamports [PRG-36]', () => {
    const market = new Market();
    const id = market.list('one_time');
    const { chain, creator } = market;
    chain.fund(market.addresses(id).escrow, 10n ** 9n);
    const withdraw = (amountLamports?: bigint) =>
      chain.send(withdrawEarnings({ creator, listingId: id, amountLamports }));
    expectRefusal(withdraw(), 'NothingToWithdraw');
    expectRefusal(withdraw(0n), 'NothingToWithdraw');
    expectRefusal(withdraw(1n), 'WithdrawalExceedsBalance');
    market.rent(id);
    const earned = market.escrow(id).earningsLamports;
    expectRefusal(withdraw(earned + 1n), 'WithdrawalExceedsBalance');
    expectRefusal(withdraw(2n ** 64n - 1n), 'WithdrawalExceedsBalance');
    chain.succeed(withdrawEarnings({ creator, listingId: id, amountLamports: earned }));
    expect(chain.lamports(market.addresses(id).escrow)).toBe(chain.rent(ACCOUNT_SIZES.Escrow) + 10n ** 9n);
  });

  it('is for the creator alone, also while listing and protocol are paused', () => {
    const market = new Market();
    const id = market.list('subscription');
    market.rent(id, market.buyer, MONTH);
    for (const creator of [market.admin, market.authority, market.buyer]) {
      expectRefusal(market.chain.send(withdrawEarnings({ creator, listingId: id })), 'Unauthorized');
    }
    market.updateListing(id, { status: 'paused' });
    market.updateProtocol({ paused: true });
    market.chain.succeed(withdrawEarnings({ creator: market.creator, listingId: id }));
  });
});
