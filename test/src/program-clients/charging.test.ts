import {
  CHARGE_WINDOW_BITS,
  MAX_SEQUENCE_JUMP,
  sequenceState,
  topupBalance,
  updateProtocol,
} from '@agent-rental/program-client';
import type { Keypair, TransactionInstruction } from '@solana/web3.js';
import { expect, it } from 'vitest';
import { Market, PRICE } from './market.js';
import { onEveryChain } from './on-every-chain.js';
import type { Landed } from './transaction-sender.js';
import { FORM } from '../support/form.js';

/** More than the window of a balance holds. */
const CHARGES = FORM === 'full' ? 1_000 : 300;
/** As the service packs them under load. */
const CHARGES_PER_TRANSACTION = 8;
const RACES = 24;
/** Half a window: in any order, no sequence falls out of it. The service keeps as many charges open at a time. */
const SHUFFLED_TOGETHER = Number(CHARGE_WINDOW_BITS) / 2;

/** The same on every chain; deriving the addresses of so many takes seconds. */
let busyCharges: TransactionInstruction[] | undefined;

/** 1 to n in an order that no charge is too late in, the same in every run: shuffled within blocks of the window. */
function shuffledSequences(count: number): bigint[] {
  let state = 20_240_607;
  const random = (below: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
  const sequences = Array.from({ length: count }, (_, index) => BigInt(index + 1));
  for (let start = 0; start < count; start += SHUFFLED_TOGETHER) {
    const end = Math.min(start + SHUFFLED_TOGETHER, count);
    for (let index = end - 1; index > start; index -= 1) {
      const other = start + random(index - start + 1);
      const [a, b] = [sequences[index], sequences[other]];
      if (a !== undefined && b !== undefined) {
        [sequences[index], sequences[other]] = [b, a];
      }
    }
  }
  return sequences;
}

function runIdOf(number: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(16);
  new DataView(bytes.buffer).setUint32(0, number);
  return bytes;
}

function tally(outcomes: readonly Landed[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { err, error } of outcomes) {
    const name = err === null ? 'charged' : (error?.name ?? 'not our error');
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

onEveryChain(Market.start, (at) => {
  /** Signs charges one after the other and lands them all at once. */
  async function landAtOnce(
    charges: { listingId: string; sequence: bigint; authority?: Keypair; run: number }[],
  ) {
    const market = at();
    const signed = [];
    for (const { listingId, sequence, authority = market.authority, run } of charges) {
      const instruction = market.charge(listingId, sequence, { authority, runId: runIdOf(run) });
      signed.push(await market.sender.sign([instruction], [authority]));
    }
    return market.sender.landAll(signed);
  }

  it('charges a sequence once, whatever is resent', async () => {
    const market = at();
    const { authority } = market;
    const listingId = await market.prepaid('resent-agent');
    const charge = market.charge(listingId, 1n);
    await market.send(charge, authority);
    expect(await market.refusal(charge, authority)).toBe('RunAlreadyConsumed');
    const otherRun = market.charge(listingId, 1n, { runId: runIdOf(7) });
    expect(await market.refusal(otherRun, authority)).toBe('RunAlreadyConsumed');
    expect(await market.balance(listingId)).toMatchObject({ totalSpentLamports: PRICE, window: 1n });
  });

  it('accepts a jump to its limit, then the late ones inside the window, and each once', async () => {
    const market = at();
    const { authority } = market;
    const listingId = await market.prepaid('jumping-agent');
    const charge = (sequence: bigint) => market.charge(listingId, sequence);
    expect(await market.refusal(charge(MAX_SEQUENCE_JUMP + 1n), authority)).toBe('SequenceTooFar');
    const top = MAX_SEQUENCE_JUMP;
    await market.send(charge(top), authority);
    const oldest = top - CHARGE_WINDOW_BITS + 1n;
    expect(await market.refusal(charge(oldest - 1n), authority)).toBe('RunAlreadyConsumed');
    for (const late of [oldest, top - 1n, top - 100n]) {
      expect(sequenceState(await market.balance(listingId), late)).toBe('free');
      await market.send(charge(late), authority);
      expect(sequenceState(await market.balance(listingId), late)).toBe('consumed');
      expect(await market.refusal(charge(late), authority)).toBe('RunAlreadyConsumed');
    }
    await market.send(charge(top + 1n), authority);
    // The window moved on by one: the oldest is no longer in it.
    expect(sequenceState(await market.balance(listingId), oldest)).toBe('too_old');
    expect(await market.refusal(charge(oldest), authority)).toBe('RunAlreadyConsumed');
    expect(await market.balance(listingId)).toMatchObject({ totalSpentLamports: 5n * PRICE });
  });

  it(`charges ${CHARGES} sequences in random order, each exactly once`, async () => {
    const market = at();
    const { authority } = market;
    const listingId = await market.prepaid('busy-agent', market.buyer, BigInt(CHARGES + 1) * PRICE);
    const sequences = shuffledSequences(CHARGES);
    busyCharges ??= sequences.map((sequence, run) =>
      market.charge(listingId, sequence, { runId: runIdOf(run) }),
    );
    for (let start = 0; start < CHARGES; start += SHUFFLED_TOGETHER) {
      const signed = [];
      const charges = busyCharges.slice(start, start + SHUFFLED_TOGETHER);
      for (let first = 0; first < charges.length; first += CHARGES_PER_TRANSACTION) {
        const pack = charges.slice(first, first + CHARGES_PER_TRANSACTION);
        signed.push(await market.sender.sign(pack, [authority]));
      }
      expect(tally(await market.sender.landAll(signed))).toEqual({ charged: signed.length });
    }
    expect(await market.balance(listingId)).toMatchObject({
      balanceLamports: PRICE,
      totalSpentLamports: BigInt(CHARGES) * PRICE,
      highestSequence: BigInt(CHARGES),
      window: 2n ** CHARGE_WINDOW_BITS - 1n,
    });
    const again = sequences.slice(-CHARGES_PER_TRANSACTION);
    const outcomes = await landAtOnce(again.map((sequence, run) => ({ listingId, sequence, run })));
    expect(tally(outcomes)).toEqual({ RunAlreadyConsumed: again.length });
  });

  it('lets one of two racing replicas charge a sequence', async () => {
    const market = at();
    const { admin, authority, buyer } = market;
    const replica = await market.wallet('second replica');
    await market.send(updateProtocol({ admin: admin.publicKey, nextAuthority: replica.publicKey }), admin);
    const listingId = await market.prepaid('raced-agent', buyer, BigInt(RACES + 1) * PRICE);
    const races = shuffledSequences(RACES).flatMap((sequence, index) => [
      { listingId, sequence, authority, run: 2 * index },
      { listingId, sequence, authority: replica, run: 2 * index + 1 },
    ]);
    const outcomes = await landAtOnce(races);
    expect(tally(outcomes)).toEqual({ charged: RACES, RunAlreadyConsumed: RACES });
    for (let index = 0; index < outcomes.length; index += 2) {
      expect(tally(outcomes.slice(index, index + 2))).toEqual({ charged: 1, RunAlreadyConsumed: 1 });
    }
    // The run id in the event, not the error, says whose charge landed.
    const winner = outcomes.findIndex(({ err }) => err === null);
    const { events } = await market.sender.outcome(outcomes[winner]?.signature ?? '');
    expect(events).toMatchObject([
      { name: 'QueryConsumed', data: { sequence: races[winner]?.sequence, runId: runIdOf(winner) } },
    ]);
    expect(await market.balance(listingId)).toMatchObject({
      balanceLamports: PRICE,
      totalSpentLamports: BigInt(RACES) * PRICE,
    });
  });

  it('lets the last money be spent once, by whichever of two runs comes first', async () => {
    const market = at();
    const { authority } = market;
    const replica = await market.wallet('second replica');
    const listingId = await market.prepaid('last-money-agent', market.buyer, PRICE);
    const outcomes = await landAtOnce([
      { listingId, sequence: 1n, authority, run: 1 },
      { listingId, sequence: 2n, authority: replica, run: 2 },
    ]);
    expect(tally(outcomes)).toEqual({ charged: 1, InsufficientBalance: 1 });
    expect(await market.balance(listingId)).toMatchObject({ balanceLamports: 0n });
    // After a top-up the other run is charged too. So the compared state of the chains is the same in either order.
    const { buyer } = market;
    const topup = { buyer: buyer.publicKey, listingId, amountLamports: PRICE, maxPriceLamports: PRICE };
    await market.send(topupBalance(topup), buyer);
    const late = outcomes[0]?.err === null ? 2n : 1n;
    expect(tally(await landAtOnce([{ listingId, sequence: late, run: 3 }]))).toEqual({ charged: 1 });
    expect(await market.balance(listingId)).toMatchObject({ balanceLamports: 0n, highestSequence: 2n });
  });
});
