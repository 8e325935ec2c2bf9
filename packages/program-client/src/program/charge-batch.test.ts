import { TransactionInstruction, type PublicKey } from '@solana/web3.js';
import { describe, expect, it } from 'vitest';
import { splitChargeError } from '../decoding/errors.js';
import { consumeQueries, type ConsumeQueryInput } from '../instructions/access.js';
import type { Outcome } from '../testing/chain.js';
import { expectRefusal, refusalOf } from '../testing/expect-refusal.js';
import { DEPOSIT, Market, PRICE } from '../testing/market.js';
import { pseudoRandom } from '../testing/pseudo-random.js';

/** A listing that several buyers have rented. The addresses are the same in every one. */
function setup(buyers = 3) {
  const market = new Market();
  const listingId = market.list('per_query');
  const renters = Array.from({ length: buyers }, () => market.chain.wallet());
  for (const renter of renters) market.rent(listingId, renter);
  const charge = (renter: number, sequence: bigint, changes: Partial<ConsumeQueryInput> = {}) => {
    const runId = new Uint8Array(16).fill(Number(sequence % 251n));
    const given = { buyer: renters[renter] as PublicKey, runId, priceLamports: PRICE, ...changes };
    return market.charge(listingId, sequence, given);
  };
  return { market, chain: market.chain, listingId, renters, charge };
}

/** The refusal of a batch: its name, and the place of the refused charge. */
function refusal(outcome: Outcome): [string, number | undefined] {
  const { error } = outcome;
  return [refusalOf(outcome), typeof error === 'number' ? splitChargeError(error).place : undefined];
}

type Parts = Partial<Pick<TransactionInstruction, 'keys' | 'data'>>;

/** The same instruction with other accounts or data. */
function changed({ programId, keys, data }: TransactionInstruction, parts: Parts): TransactionInstruction {
  return new TransactionInstruction({ programId, keys, data, ...parts });
}

/** The same instruction with a change to one of its accounts. */
function withAccount(
  instruction: TransactionInstruction,
  at: number,
  change: Partial<TransactionInstruction['keys'][number]>,
): TransactionInstruction {
  const keys = instruction.keys.map((key, index) => (index === at ? { ...key, ...change } : key));
  return changed(instruction, { keys });
}

/** Every account that charges write, and the lamports of all accounts that they could write. */
function stateOf({ market, listingId, renters, chain }: ReturnType<typeof setup>) {
  const { escrow, listing, protocol } = market.addresses(listingId);
  const rented = renters.flatMap((renter) => {
    const { balance, credential } = market.addresses(listingId, renter);
    return [balance, credential, renter];
  });
  return [escrow, listing, protocol, market.treasury, market.creator, ...rented].map((address) => {
    const account = chain.account(address);
    return `${account?.lamports} ${Buffer.from(account?.data ?? []).toString('hex')}`;
  });
}

describe('consume_queries', () => {
  it('has the effects of as many consume_query in one transaction, refusals included [MON-9]', () => {
    const [together, apart] = [setup(), setup()];
    for (const { market, listingId, chain } of [together, apart]) {
      const changedAt = chain.now();
      market.updateListing(listingId, { priceLamports: PRICE / 2n, minDepositLamports: PRICE });
      chain.setTime(changedAt + 1n);
    }
    const random = pseudoRandom(11);
    const below = (limit: number) => random.next().value % limit;
    const seen = new Map<string, number>();
    for (let round = 0; round < 300; round += 1) {
      const prices = [PRICE / 2n, PRICE / 2n, PRICE / 2n, PRICE, below(12) === 0 ? 2n * PRICE : PRICE / 2n];
      const wanted = Array.from({ length: 1 + below(8) }, () => {
        const sequence = BigInt(round + below(below(20) === 0 ? 2_000 : 12) - 1);
        const priceLamports = prices[below(prices.length)] as bigint;
        return [below(3), sequence < 0n ? 0n : sequence, { priceLamports }] as const;
      });
      const batch = together.chain.send(consumeQueries(wanted.map((one) => together.charge(...one))));
      const singles = apart.chain.send(...wanted.map((one) => apart.charge(...one)));
      const [name, place] = refusal(batch);
      expect(name).toBe(refusalOf(singles));
      expect(batch.events).toEqual(singles.events);
      // The charges before the refused one took effect, and were rolled back.
      expect(place).toBe(name === 'success' ? undefined : singles.events.length);
      expect(stateOf(together)).toEqual(stateOf(apart));
      seen.set(name, (seen.get(name) ?? 0) + 1);
    }
    // Every outcome occurred.
    expect([...seen.keys()].toSorted()).toEqual([
      'InsufficientBalance',
      'PriceChanged',
      'RunAlreadyConsumed',
      'SequenceTooFar',
      'success',
    ]);
  });

  it('charges one balance several times, and each sequence once [MON-9]', () => {
    const { market, chain, listingId, renters, charge } = setup(1);
    const { events } = chain.succeed(consumeQueries([charge(0, 3n), charge(0, 1n), charge(0, 2n)]));
    expect(events.map(({ data }) => 'sequence' in data && data.sequence)).toEqual([3n, 1n, 2n]);
    expect(market.balance(listingId, renters[0])).toMatchObject({
      balanceLamports: DEPOSIT - 3n * PRICE,
      highestSequence: 3n,
      window: 0b111n,
    });
    const again = chain.send(consumeQueries([charge(0, 4n), charge(0, 4n)]));
    expect(refusal(again)).toEqual(['RunAlreadyConsumed', 1]);
    // A balance can be spent to the last lamport, and not beyond.
    const all = Array.from({ length: 7 }, (_, index) => charge(0, BigInt(index + 4)));
    const beyond = chain.simulate(consumeQueries([...all, charge(0, 11n)]));
    expect(refusal(beyond)).toEqual(['InsufficientBalance', 7]);
    chain.succeed(consumeQueries(all));
    expect(market.balance(listingId, renters[0]).balanceLamports).toBe(0n);
  });

  it('is refused as a whole for one bad charge, and names the charge and the reason [MON-9]', () => {
    const given = setup();
    const { market, chain, charge, listingId, renters } = given;
    market.updateListing(listingId, { priceLamports: 2n * PRICE, minDepositLamports: 2n * PRICE });
    const [, , revoked] = renters;
    chain.succeed(market.revoke(listingId, market.admin, revoked));
    chain.succeed(charge(1, 5n));
    const before = stateOf(given);
    const cases: [TransactionInstruction, string][] = [
      [charge(1, 1n, { priceLamports: PRICE - 1n }), 'PriceChanged'],
      // The buyer agreed to the previous price, but not to the present one.
      [charge(1, 1n, { priceLamports: 2n * PRICE }), 'PriceAboveLimit'],
      [charge(1, 1_030n), 'SequenceTooFar'],
      [charge(1, 5n), 'RunAlreadyConsumed'],
      [charge(2, 1n), 'CredentialRevoked'],
    ];
    for (const [refused, name] of cases) {
      for (const place of [0, 1, 2]) {
        const charges = [charge(0, 1n), charge(0, 2n)].toSpliced(place, 0, refused);
        const outcome = chain.send(consumeQueries(charges));
        expect(refusal(outcome)).toEqual([name, place]);
        expect(outcome.logs.join('\n')).toContain(
          `AnchorError occurred. Error Code: ${name}. Error Number: ${outcome.programError?.code}. `,
        );
        expect(stateOf(given)).toEqual(before);
      }
    }
  });

  it('is refused without a refused charge where the fault is in shared accounts [MON-9]', () => {
    const { market, chain, charge, listingId, renters } = setup();
    const charges = [charge(0, 1n), charge(1, 1n)];
    const batch = consumeQueries(charges);
    const by = (authority: PublicKey) =>
      consumeQueries(charges.map((one) => withAccount(one, 0, { pubkey: authority })));
    for (const authority of [market.admin, market.creator, renters[0] as PublicKey]) {
      expectRefusal(chain.send(by(authority)), 'Unauthorized');
    }
    expectRefusal(chain.send(withAccount(batch, 0, { isSigner: false })), 'AccountNotSigner');
    expectRefusal(chain.send(withAccount(batch, 3, { isWritable: false })), 'ConstraintMut');
    expectRefusal(chain.send(withAccount(batch, 4, { pubkey: chain.wallet() })), 'ConstraintHasOne');
    const next = chain.wallet();
    market.updateProtocol({ nextAuthority: next });
    expect(chain.simulate(by(next)).error).toBeNull();
    // A pause stops neither charge; a closed listing has no charges.
    market.updateProtocol({ paused: true });
    market.updateListing(listingId, { status: 'paused' });
    chain.succeed(batch);
    market.updateProtocol({ paused: false });
    chain.succeed(market.withdraw(listingId));
    chain.succeed(market.close(listingId));
    expectRefusal(chain.send(consumeQueries([charge(0, 2n), charge(1, 2n)])), 'ListingNotActive');
  });

  it('takes the credential and the balance of one buyer and this listing alone [MON-9]', () => {
    const { market, chain, charge, listingId, renters } = setup();
    const other = market.list('per_query');
    for (const renter of renters) market.rent(other, renter);
    const oneTime = market.list('one_time');
    market.rent(oneTime, renters[0]);
    const [here, there] = [market.addresses(listingId, renters[0]), market.addresses(other, renters[0])];
    const second = market.addresses(listingId, renters[1]);
    const batch = consumeQueries([charge(1, 1n), charge(0, 1n)]);
    // Indexes of the second charge's accounts.
    const [credentialAt, balanceAt] = [7, 8];
    const stranger = (at: PublicKey, change: object = {}) => {
      const copy = chain.wallet();
      const account = chain.account(at);
      if (account) chain.setAccount(copy, { ...account, ...change });
      return copy;
    };
    const owner = chain.wallet();
    const cases = [
      [credentialAt, { pubkey: there.credential }, 'ConstraintSeeds'],
      [credentialAt, { pubkey: second.credential }, 'ConstraintSeeds'],
      [credentialAt, { pubkey: here.balance }, 'AccountDiscriminatorMismatch'],
      [credentialAt, { pubkey: chain.wallet() }, 'CredentialNotFound'],
      [credentialAt, { pubkey: stranger(here.credential, { owner }) }, 'AccountOwnedByWrongProgram'],
      [balanceAt, { pubkey: there.balance }, 'ConstraintSeeds'],
      [balanceAt, { pubkey: second.balance }, 'ConstraintSeeds'],
      [balanceAt, { pubkey: here.credential }, 'AccountDiscriminatorMismatch'],
      [balanceAt, { pubkey: chain.wallet() }, 'InvalidAccessType'],
      [balanceAt, { pubkey: stranger(here.balance, { owner }) }, 'AccountOwnedByWrongProgram'],
      [balanceAt, { isWritable: false }, 'ConstraintMut'],
    ] as const;
    for (const [at, change, name] of cases)
      expect(refusal(chain.simulate(withAccount(batch, at, change)))).toEqual([name, 1]);
    // Both accounts of another listing are refused, too.
    const foreign = withAccount(batch, credentialAt, { pubkey: there.credential });
    foreign.keys[balanceAt] = { pubkey: there.balance, isSigner: false, isWritable: true };
    expect(refusal(chain.simulate(foreign))).toEqual(['ConstraintSeeds', 1]);
    expect(chain.simulate(batch).error).toBeNull();
  });

  it('is refused where its data or its accounts do not fit its charges [MON-9]', () => {
    const { chain, charge } = setup();
    const batch = consumeQueries([charge(0, 1n), charge(1, 1n)]);
    const withData = (data: Buffer) => changed(batch, { data });
    for (let length = 8; length < batch.data.length; length += 1) {
      expectRefusal(chain.simulate(withData(batch.data.subarray(0, length))), 'InstructionDidNotDeserialize');
    }
    const longer = Buffer.concat([batch.data, Buffer.alloc(1)]);
    expectRefusal(chain.simulate(withData(longer)), 'InstructionDidNotDeserialize');
    for (const count of [0, 1, 3, 2 ** 27, 2 ** 27 + 2, 2 ** 32 - 1]) {
      const data = Buffer.from(batch.data);
      data.writeUInt32LE(count, 8);
      expectRefusal(chain.simulate(withData(data)), 'InstructionDidNotDeserialize');
    }
    for (const missing of [1, 2, 3, 4]) {
      const keys = batch.keys.slice(0, -missing);
      expectRefusal(chain.simulate(changed(batch, { keys })), 'AccountNotEnoughKeys');
    }
  });

  it('costs fewer units than its charges would alone [MON-9]', () => {
    const { chain, charge } = setup(1);
    const charges = Array.from({ length: 10 }, (_, index) => charge(0, BigInt(index + 1)));
    const alone = chain.simulate(charge(0, 1n)).units;
    const together = chain.succeed(consumeQueries(charges));
    expect(together.units).toBeLessThan(10n * alone);
    expect(together.events).toHaveLength(10);
  });
});

describe('the batch builder', () => {
  it('refuses charges that cannot share an instruction', () => {
    const { market, charge, renters } = setup();
    const other = market.list('per_query');
    const elsewhere = market.charge(other, 1n, { buyer: renters[0] as PublicKey });
    for (const [charges, message] of [
      [[charge(0, 1n), elsewhere], 'All charges must have the same listing.'],
      [[], 'There must be at least one charge.'],
      [[market.revoke(other, market.admin)], 'Each charge must be a consume_query.'],
    ] as const)
      expect(() => consumeQueries([...charges])).toThrow(message);
  });
});
