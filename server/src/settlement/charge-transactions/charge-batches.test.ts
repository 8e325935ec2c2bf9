import type { MessageV0, TransactionError } from '@solana/web3.js';
import { describe, expect, it } from 'vitest';
import { createBatchSupport } from './charge-batches.js';

const TEN_MINUTES_MS = 600_000;
const probe = () => ({}) as MessageV0;

/** A program that answers a simulation as given, or cannot be reached. */
function asked(...answers: (TransactionError | Error | null)[]) {
  let count = 0;
  const clock = { now: 0 };
  const hasBatches = createBatchSupport(
    {
      simulate: async () => {
        const error = answers[Math.min(count, answers.length - 1)] ?? null;
        count += 1;
        if (error instanceof Error) throw error;
        return { error, logs: [] };
      },
    },
    () => clock.now,
  );
  return { hasBatches: () => hasBatches(probe), clock, asks: () => count };
}

const custom = (code: number): TransactionError => ({ InstructionError: [2, { Custom: code }] });

describe('whether the program has consume_queries', () => {
  it('is asked once where it has, also where it refuses the charge [MON-9]', async () => {
    for (const answer of [null, custom(6_003 + 0x1_0000), custom(6_000)]) {
      const { hasBatches, asks, clock } = asked(answer);
      expect(await Promise.all([hasBatches(), hasBatches()])).toEqual([true, true]);
      clock.now = 10 * TEN_MINUTES_MS;
      expect(await hasBatches()).toBe(true);
      expect(asks()).toBe(1);
    }
  });

  it('is asked again after ten minutes where it has not [MON-9]', async () => {
    const { hasBatches, asks, clock } = asked(custom(101), null);
    expect([await hasBatches(), await hasBatches()]).toEqual([false, false]);
    clock.now = TEN_MINUTES_MS - 1;
    expect(await hasBatches()).toBe(false);
    expect(asks()).toBe(1);
    clock.now = TEN_MINUTES_MS;
    expect(await hasBatches()).toBe(true);
  });

  it('is not known while the chain says nothing of the program, and is asked again [MON-9]', async () => {
    const { hasBatches, asks } = asked(new Error('unreachable'), 'AccountNotFound', null);
    expect([await hasBatches(), await hasBatches(), await hasBatches()]).toEqual([false, false, true]);
    expect(asks()).toBe(3);
  });
});
