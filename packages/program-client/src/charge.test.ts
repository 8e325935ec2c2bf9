import { describe, expect, it } from 'vitest';
import type { PerQueryBalance } from './accounts.js';
import { sequenceState } from './charge-window.js';
import { consumeQuery } from './instructions/access.js';
import { closeListing, withdrawEarnings } from './instructions/listing.js';
import { topupBalance } from './instructions/rental.js';
import { protocolFeeLamports } from './pricing.js';
import { expectRefusal, refusalOf } from './testing/expect-refusal.js';
import { DEPOSIT, Market, PRICE } from './testing/market.js';
import { pseudoRandom } from './testing/pseudo-random.js';

function setup(deposit = DEPOSIT) {
  const market = new Market();
  const listingId = market.list('per_query');
  market.rent(listingId);
  if (deposit > DEPOSIT) {
    market.chain.succeed(
      topupBalance({
        buyer: market.buyer,
        listingId,
        amountLamports: deposit - DEPOSIT,
        maxPriceLamports: PRICE,
      }),
    );
  }
  return { market, listingId, chain: market.chain, at: market.addresses(listingId) };
}

function shuffled(values: bigint[], seed: number): bigint[] {
  const random = pseudoRandom(seed);
  return values
    .map((value) => ({ value, key: random.next().value }))
    .sort((a, b) => a.key - b.key)
    .map(({ value }) => value);
}

/** What charging the usual price should come to, by the client's own reading of the window. */
function expectedOutcome(balance: PerQueryBalance, sequence: bigint): string {
  const state = sequenceState(balance, sequence);
  if (state === 'free') {
    return balance.balanceLamports >= PRICE ? 'success' : 'InsufficientBalance';
  }
  return state === 'too_far' ? 'SequenceTooFar' : 'RunAlreadyConsumed';
}

describe('consume_query', () => {
  it('moves exactly the price, fee out of it [PRG-7, PRG-9]', () => {
    const { market, listingId, chain, at } = setup();
    const fee = protocolFeeLamports(PRICE, 250);
    const before = [at.balance, at.escrow, market.treasury, market.buyer].map((key) => chain.lamports(key));
    const runId = Uint8Array.from({ length: 16 }, (_, index) => index);
    const { events } = chain.succeed(
      consumeQuery({
        authority: market.authority,
        buyer: market.buyer,
        listingId,
        treasury: market.treasury,
        sequence: 1n,
        runId,
      }),
    );
    const after = [at.balance, at.escrow, market.treasury, market.buyer].map((key) => chain.lamports(key));
    expect(after.map((lamports, index) => lamports - (before[index] ?? 0n))).toEqual([
      -PRICE,
      PRICE - fee,
      fee,
      0n,
    ]);
    expect(market.balance(listingId)).toMatchObject({
      balanceLamports: DEPOSIT - PRICE,
      totalSpentLamports: PRICE,
      totalDepositedLamports: DEPOSIT,
      highestSequence: 1n,
      window: 1n,
    });
    expect(market.escrow(listingId)).toMatchObject({
      earningsLamports: PRICE - fee,
      totalEarnedLamports: PRICE - fee,
    });
    expect(events).toEqual([
      {
        name: 'QueryConsumed',
        data: {
          listing: at.listing,
          buyer: market.buyer,
          runId,
          sequence: 1n,
          priceLamports: PRICE,
          feeLamports: fee,
          balanceLamports: DEPOSIT - PRICE,
        },
      },
    ]);
  });

  it('is the authority’s alone [PRG-14]', () => {
    const { market, listingId, chain } = setup();
    for (const authority of [market.admin, market.creator, market.buyer, chain.wallet()]) {
      const instruction = consumeQuery({
        authority,
        buyer: market.buyer,
        listingId,
        treasury: market.treasury,
        sequence: 1n,
        runId: new Uint8Array(16),
      });
      expectRefusal(chain.send(instruction), 'Unauthorized');
    }
  });

  it('charges a sequence once, whatever is resent [PRG-37, MON-1]', () => {
    const { market, listingId, chain } = setup();
    chain.succeed(market.charge(listingId, 7n));
    expectRefusal(chain.send(market.charge(listingId, 7n)), 'RunAlreadyConsumed');
    expectRefusal(
      chain.send(market.charge(listingId, 8n), market.charge(listingId, 8n)),
      'RunAlreadyConsumed',
    );
    expect(market.balance(listingId)).toMatchObject({ totalSpentLamports: PRICE, highestSequence: 7n });
    chain.succeed(market.charge(listingId, 8n), market.charge(listingId, 9n));
    expect(market.balance(listingId).totalSpentLamports).toBe(3n * PRICE);
  });

  it('charges 1,000 sequences in random order once each [PRG-37]', () => {
    const { market, listingId, chain } = setup(1_000n * PRICE);
    const sequences: bigint[] = [];
    // Shuffled within runs of 128, so that none ever falls out of the window.
    for (let start = 1n; start <= 1_000n; start += 128n) {
      const block = Array.from({ length: 128 }, (_, index) => start + BigInt(index));
      sequences.push(
        ...shuffled(
          block.filter((sequence) => sequence <= 1_000n),
          Number(start),
        ),
      );
    }
    const twice = shuffled([...sequences], 42);
    for (const sequence of sequences) {
      chain.succeed(market.charge(listingId, sequence));
    }
    for (const sequence of twice) {
      expectRefusal(chain.send(market.charge(listingId, sequence)), 'RunAlreadyConsumed');
    }
    expect(market.balance(listingId)).toMatchObject({
      balanceLamports: 0n,
      totalSpentLamports: 1_000n * PRICE,
      highestSequence: 1_000n,
      window: 2n ** 256n - 1n,
    });
  });

  it('agrees with the client’s reading of the window over jumps and late ones [PRG-37, PRG-38]', () => {
    const { market, listingId, chain } = setup(400n * PRICE);
    const charged = new Set<bigint>();
    const random = pseudoRandom(2_024);
    for (let step = 0; step < 600; step += 1) {
      const balance = market.balance(listingId);
      const [choice, offset] = [random.next().value % 7, BigInt(random.next().value)];
      const top = balance.highestSequence;
      const candidates = [
        top + 1n,
        top + (offset % 70n),
        top + 1_024n,
        top + 1_025n + offset,
        top - (offset % 256n),
        top - 255n,
        top - 256n,
      ];
      const wanted = candidates[choice] ?? 0n;
      const sequence = wanted < 0n ? 0n : wanted;
      const isFree = sequenceState(balance, sequence) === 'free';
      expect(refusalOf(chain.send(market.charge(listingId, sequence)))).toBe(
        expectedOutcome(balance, sequence),
      );
      expect(isFree && charged.has(sequence)).toBe(false);
      if (isFree && balance.balanceLamports >= PRICE) {
        charged.add(sequence);
      }
    }
    expect(charged.size).toBeGreaterThan(200);
    expect(market.balance(listingId).totalSpentLamports).toBe(BigInt(charged.size) * PRICE);
  });

  it('never charges above the price that the buyer agreed to [PRG-11]', () => {
    const { market, listingId, chain } = setup();
    market.updateListing(listingId, { priceLamports: PRICE + 1n, minDepositLamports: PRICE + 1n });
    expectRefusal(chain.send(market.charge(listingId, 1n)), 'PriceAboveLimit');
    market.updateListing(listingId, { priceLamports: PRICE - 1n });
    chain.succeed(market.charge(listingId, 1n));
    expect(market.balance(listingId).balanceLamports).toBe(DEPOSIT - PRICE + 1n);
  });

  it('spends the balance to the last lamport and not one more, donations untouched [PRG-35]', () => {
    const { market, listingId, chain, at } = setup();
    const last = DEPOSIT / PRICE;
    for (let sequence = 1n; sequence <= last; sequence += 1n) {
      chain.succeed(market.charge(listingId, sequence));
    }
    chain.fund(at.balance, 10n * PRICE);
    expectRefusal(chain.send(market.charge(listingId, last + 1n)), 'InsufficientBalance');
    expectRefusal(chain.send(market.charge(listingId, last)), 'RunAlreadyConsumed');
    expect(market.balance(listingId)).toMatchObject({ balanceLamports: 0n, highestSequence: last });
  });

  it('goes on while listing and protocol are paused, and ends with a closed listing [PRG-25]', () => {
    const { market, listingId, chain } = setup();
    market.updateListing(listingId, { status: 'paused' });
    market.updateProtocol({ paused: true });
    chain.succeed(market.charge(listingId, 1n));
    const { creator } = market;
    chain.succeed(withdrawEarnings({ creator, listingId }), closeListing({ creator, listingId }));
    expectRefusal(chain.send(market.charge(listingId, 2n)), 'ListingNotActive');
  });

  it('needs a per-query credential', () => {
    const { market, chain } = setup();
    const none = market.list('per_query');
    expectRefusal(chain.send(market.charge(none, 1n)), 'CredentialNotFound');
    for (const model of ['one_time', 'subscription'] as const) {
      const listingId = market.list(model);
      market.rent(listingId);
      expectRefusal(chain.send(market.charge(listingId, 1n)), 'InvalidAccessType');
    }
  });

  it('takes the fee that holds when it is charged', () => {
    const { market, listingId, chain } = setup();
    market.updateProtocol({ feeBps: 1_000 });
    const before = chain.lamports(market.treasury);
    chain.succeed(market.charge(listingId, 1n));
    expect(chain.lamports(market.treasury)).toBe(before + PRICE / 10n);
  });

  it('packs several renters’ charges into one transaction', () => {
    const { market, listingId, chain } = setup();
    const buyers = [chain.wallet(), chain.wallet(), chain.wallet()];
    for (const buyer of buyers) {
      market.rent(listingId, buyer);
    }
    const { events } = chain.succeed(...buyers.map((buyer) => market.charge(listingId, 1n, buyer)));
    expect(events).toHaveLength(3);
    for (const buyer of buyers) {
      expect(market.balance(listingId, buyer).balanceLamports).toBe(DEPOSIT - PRICE);
    }
  });
});
