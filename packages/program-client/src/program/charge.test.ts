import { TransactionInstruction } from '@solana/web3.js';
import { describe, expect, it } from 'vitest';
import type { PerQueryBalance } from '../accounts/accounts.js';
import { sequenceState } from '../accounts/charge-window.js';
import { topupBalance } from '../instructions/rental.js';
import { isChargeablePrice, PREVIOUS_PRICE_SECONDS, protocolFeeLamports } from '../pricing.js';
import { expectRefusal, refusalOf } from '../testing/expect-refusal.js';
import { DEPOSIT, Market, PRICE } from '../testing/market.js';
import { pseudoRandom } from '../testing/pseudo-random.js';

function setup(deposit = DEPOSIT) {
  const market = new Market();
  const listingId = market.list('per_query');
  market.rent(listingId);
  const topup = { buyer: market.buyer, listingId, maxPriceLamports: PRICE };
  market.chain.succeed(topupBalance({ ...topup, amountLamports: deposit - DEPOSIT }));
  return { market, listingId, chain: market.chain, at: market.addresses(listingId) };
}

function shuffled(values: bigint[], seed: number): bigint[] {
  const random = pseudoRandom(seed);
  return values
    .map((value) => ({ value, key: random.next().value }))
    .sort((a, b) => a.key - b.key)
    .map(({ value }) => value);
}

/** The expected result of a charge at the usual price, by the client's reading of the window. */
function expectedOutcome(balance: PerQueryBalance, sequence: bigint): string {
  const state = sequenceState(balance, sequence);
  if (state === 'free') {
    return balance.balanceLamports >= PRICE ? 'success' : 'InsufficientBalance';
  }
  return state === 'too_far' ? 'SequenceTooFar' : 'RunAlreadyConsumed';
}

/** An instruction with other bytes in place of its data. */
function withData(instruction: TransactionInstruction, data: Uint8Array): TransactionInstruction {
  const { programId, keys } = instruction;
  return new TransactionInstruction({ programId, keys, data: Buffer.from(data) });
}

describe('consume_query', () => {
  it('is refused without a price, as older clients write it, and with anything behind it [PRG-10]', () => {
    const { market, listingId, chain } = setup();
    const charge = market.charge(listingId, 1n);
    // Discriminator, sequence and run id: an older client sends no price.
    const without = charge.data.subarray(0, 8 + 8 + 16);
    for (let length = 8; length < 40; length += 1) {
      const cut = Buffer.concat([without, Buffer.alloc(8)]).subarray(0, length);
      expectRefusal(chain.send(withData(charge, cut)), 'InstructionDidNotDeserialize');
    }
    const longer = Buffer.concat([charge.data, Buffer.alloc(1)]);
    expectRefusal(chain.send(withData(charge, longer)), 'InstructionDidNotDeserialize');
    expect(market.balance(listingId)).toMatchObject({ balanceLamports: DEPOSIT, highestSequence: 0n });
  });

  it('moves exactly the price, with the fee out of it [PRG-7]', () => {
    const { market, listingId, chain, at } = setup();
    const fee = protocolFeeLamports(PRICE, 250);
    const before = [at.balance, at.escrow, market.treasury, market.buyer].map((key) => chain.lamports(key));
    const runId = Uint8Array.from({ length: 16 }, (_, index) => index);
    const { events } = chain.succeed(market.charge(listingId, 1n, { runId }));
    const after = [at.balance, at.escrow, market.treasury, market.buyer].map((key) => chain.lamports(key));
    const moved = after.map((lamports, index) => lamports - (before[index] ?? 0n));
    expect(moved).toEqual([-PRICE, PRICE - fee, fee, 0n]);
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

  it('is for the authority alone [PRG-13]', () => {
    const { market, listingId, chain } = setup();
    for (const authority of [market.admin, market.creator, market.buyer, chain.wallet()]) {
      expectRefusal(chain.send(market.charge(listingId, 1n, { authority })), 'Unauthorized');
    }
  });

  it('charges a sequence once, whatever is resent [PRG-37, MON-1]', () => {
    const { market, listingId, chain } = setup();
    chain.succeed(market.charge(listingId, 7n));
    expectRefusal(chain.send(market.charge(listingId, 7n)), 'RunAlreadyConsumed');
    const twice = [market.charge(listingId, 8n), market.charge(listingId, 8n)];
    expectRefusal(chain.send(...twice), 'RunAlreadyConsumed');
    expect(market.balance(listingId)).toMatchObject({ totalSpentLamports: PRICE, highestSequence: 7n });
    chain.succeed(market.charge(listingId, 8n), market.charge(listingId, 9n));
    expect(market.balance(listingId).totalSpentLamports).toBe(3n * PRICE);
  });

  it('charges 1,000 sequences in random order once each [PRG-37]', () => {
    const { market, listingId, chain } = setup(1_000n * PRICE);
    const sequences: bigint[] = [];
    // Shuffled within groups of 128, so that no sequence falls out of the window.
    for (let start = 1n; start <= 1_000n; start += 128n) {
      const block = Array.from({ length: 128 }, (_, index) => start + BigInt(index));
      const known = block.filter((sequence) => sequence <= 1_000n);
      sequences.push(...shuffled(known, Number(start)));
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

  it('agrees with the client’s reading of the window, over jumps and late sequences [PRG-37]', () => {
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
      const outcome = refusalOf(chain.send(market.charge(listingId, sequence)));
      expect(outcome).toBe(expectedOutcome(balance, sequence));
      expect(isFree && charged.has(sequence)).toBe(false);
      if (isFree && balance.balanceLamports >= PRICE) {
        charged.add(sequence);
      }
    }
    expect(charged.size).toBeGreaterThan(200);
    expect(market.balance(listingId).totalSpentLamports).toBe(BigInt(charged.size) * PRICE);
  });

  it('never charges above the price that the buyer agreed to [PRG-10]', () => {
    const { market, listingId, chain } = setup();
    market.updateListing(listingId, { priceLamports: PRICE + 1n, minDepositLamports: PRICE + 1n });
    expectRefusal(chain.send(market.charge(listingId, 1n)), 'PriceAboveLimit');
    market.updateListing(listingId, { priceLamports: PRICE - 1n });
    chain.succeed(market.charge(listingId, 1n));
    expect(market.balance(listingId).balanceLamports).toBe(DEPOSIT - PRICE + 1n);
  });

  it('charges the price at which a run was admitted, for 15 minutes after a change [PRG-10]', () => {
    const { market, listingId, chain, at } = setup();
    const [lower, higher] = [PRICE / 2n, PRICE];
    market.updateListing(listingId, { priceLamports: lower });
    const changedAt = chain.now();
    expect(market.listing(listingId)).toMatchObject({
      previousPriceLamports: higher,
      priceChangedAt: changedAt,
    });
    const isCharged = (price: bigint): boolean => {
      const { error } = chain.simulate(market.charge(listingId, 1n, { priceLamports: price }));
      expect(isChargeablePrice(market.listing(listingId), price, chain.now())).toBe(error === null);
      return error === null;
    };
    for (const passed of [0n, 1n, PREVIOUS_PRICE_SECONDS - 1n]) {
      chain.setTime(changedAt + passed);
      expect([lower, higher].map(isCharged)).toEqual([true, true]);
      const others = [0n, lower - 1n, lower + 1n, higher - 1n, higher + 1n, 2n ** 64n - 1n];
      expect(others.filter(isCharged)).toEqual([]);
    }
    const fee = protocolFeeLamports(higher, 250);
    const escrow = chain.lamports(at.escrow);
    const { events } = chain.succeed(market.charge(listingId, 1n, { priceLamports: higher }));
    expect(events[0]?.data).toMatchObject({
      priceLamports: higher,
      feeLamports: fee,
      balanceLamports: DEPOSIT - higher,
    });
    expect(chain.lamports(at.escrow)).toBe(escrow + higher - fee);
    expect(market.balance(listingId).totalSpentLamports).toBe(higher);

    chain.setTime(changedAt + PREVIOUS_PRICE_SECONDS);
    expectRefusal(chain.send(market.charge(listingId, 2n, { priceLamports: higher })), 'PriceChanged');
    chain.succeed(market.charge(listingId, 2n, { priceLamports: lower }));
  });

  it('keeps the last previous price alone, over any order of changes [PRG-10]', () => {
    const { market, listingId, chain } = setup();
    const [a, b, c] = [PRICE, PRICE / 2n, PRICE / 4n];
    const charged = () =>
      [a, b, c].filter(
        (price) => chain.simulate(market.charge(listingId, 1n, { priceLamports: price })).error === null,
      );
    expect(market.listing(listingId)).toMatchObject({ previousPriceLamports: null, priceChangedAt: null });
    // A listing from before the first change has a previous price of 0, which means none.
    expectRefusal(chain.send(market.charge(listingId, 1n, { priceLamports: 0n })), 'PriceChanged');
    market.updateListing(listingId, { priceLamports: a });
    expect(market.listing(listingId).priceChangedAt).toBeNull();

    const first = chain.now();
    market.updateListing(listingId, { priceLamports: b });
    chain.setTime(first + 600n);
    // The same price, a deposit or a pause alone: no change of the price, and the record stays.
    market.updateListing(listingId, { priceLamports: b });
    market.updateListing(listingId, { minDepositLamports: 2n * PRICE, status: 'paused' });
    market.updateListing(listingId, { status: 'active' });
    expect(market.listing(listingId)).toMatchObject({ previousPriceLamports: a, priceChangedAt: first });
    expect(charged()).toEqual([a, b]);
    market.updateListing(listingId, { priceLamports: c });
    expect(charged()).toEqual([b, c]);
    chain.setTime(first + 600n + PREVIOUS_PRICE_SECONDS - 1n);
    expect(charged()).toEqual([b, c]);
    // Back to the previous price: the two prices change places, and the time starts again.
    market.updateListing(listingId, { priceLamports: b });
    expect(charged()).toEqual([b, c]);
    chain.setTime(chain.now() + PREVIOUS_PRICE_SECONDS - 1n);
    expect(charged()).toEqual([b, c]);
    chain.setTime(chain.now() + 1n);
    expect(charged()).toEqual([b]);
  });

  it('checks the sequence before the price, and the price before the balance [PRG-10]', () => {
    const { market, listingId, chain } = setup();
    const charge = (sequence: bigint, price: bigint) =>
      chain.send(market.charge(listingId, sequence, { priceLamports: price }));
    chain.succeed(market.charge(listingId, 1n));
    expectRefusal(charge(1n, PRICE + 1n), 'RunAlreadyConsumed');
    expectRefusal(charge(2_000n, PRICE + 1n), 'SequenceTooFar');
    // The price is above the agreed maximum and the balance, but the check of the present price comes first.
    expectRefusal(charge(2n, 2n * DEPOSIT), 'PriceChanged');
    expectRefusal(charge(2n, PRICE - 1n), 'PriceChanged');
    expect(market.balance(listingId)).toMatchObject({ highestSequence: 1n, totalSpentLamports: PRICE });
    chain.succeed(market.charge(listingId, 2n));
  });

  it('of a run in flight is refused once the buyer reclaimed, and earlier charges are not returned', () => {
    const { market, listingId, chain } = setup();
    chain.succeed(market.charge(listingId, 1n));
    market.updateListing(listingId, { priceLamports: 2n * PRICE, minDepositLamports: 2n * PRICE });
    const inFlight = market.charge(listingId, 2n, { priceLamports: PRICE });
    expect(chain.simulate(inFlight).error).toBeNull();
    const reclaim = market.revoke(listingId, market.buyer);
    const { events } = chain.succeed(reclaim);
    expect(events[0]?.data).toMatchObject({ refundedLamports: DEPOSIT - PRICE, revoked: false });
    expectRefusal(chain.send(inFlight), 'InsufficientBalance');
    chain.succeed(market.revoke(listingId, market.creator));
    expectRefusal(chain.send(inFlight), 'CredentialRevoked');
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

  it('goes on while listing and protocol are paused, and ends with a closed listing [PRG-24]', () => {
    const { market, listingId, chain } = setup();
    market.updateListing(listingId, { status: 'paused' });
    market.updateProtocol({ paused: true });
    chain.succeed(market.charge(listingId, 1n));
    chain.succeed(market.withdraw(listingId), market.close(listingId));
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

  it('takes the protocol fee at the time of the charge', () => {
    const { market, listingId, chain } = setup();
    market.updateProtocol({ feeBps: 1_000 });
    const before = chain.lamports(market.treasury);
    chain.succeed(market.charge(listingId, 1n));
    expect(chain.lamports(market.treasury)).toBe(before + PRICE / 10n);
  });
});
