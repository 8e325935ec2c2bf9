import { Keypair } from '@solana/web3.js';
import { describe, expect, it } from 'vitest';
import { createPriorityFees } from './priority-fees.js';

const accounts = [Keypair.generate().publicKey];

function cluster(fees: number[] | Error, maxFeeLamports = 5_000n) {
  const state = { fees, calls: 0, time: 0 };
  const priorityFees = createPriorityFees(
    {
      recentPriorityFees: async () => {
        state.calls += 1;
        if (state.fees instanceof Error) throw state.fees;
        return state.fees;
      },
    },
    maxFeeLamports,
    () => state.time,
  );
  return { state, priorityFees };
}

describe('the price of a compute unit', () => {
  it('is what three quarters of the recent fees do not exceed', async () => {
    const { priorityFees } = cluster([100, 0, 0, 0, 400, 200, 300, 0]);
    expect(await priorityFees.estimate(accounts, 20_000)).toBe(300n);
  });

  it('is bounded by the most that one transaction pays, however busy the cluster is', async () => {
    const { priorityFees } = cluster(Array.from({ length: 150 }, () => 1e12));
    const price = await priorityFees.estimate(accounts, 20_000);
    expect((price * 20_000n) / 1_000_000n).toBe(5_000n);
  });

  it('is 0 where no fee was paid, where fees are switched off, and before the cluster could be reached', async () => {
    expect(await cluster([0, 0]).priorityFees.estimate(accounts, 20_000)).toBe(0n);
    expect(await cluster([]).priorityFees.estimate(accounts, 20_000)).toBe(0n);
    expect(await cluster(new Error('no chain')).priorityFees.estimate(accounts, 20_000)).toBe(0n);
    const off = cluster([1_000], 0n);
    expect(await off.priorityFees.estimate(accounts, 20_000)).toBe(0n);
    expect(off.state.calls).toBe(0);
  });

  it('is asked for once in 10 s, and stays as it was while the cluster cannot be reached', async () => {
    const { state, priorityFees } = cluster([700]);
    await Promise.all([priorityFees.estimate(accounts, 1), priorityFees.estimate(accounts, 1)]);
    state.time = 9_999;
    expect(await priorityFees.estimate(accounts, 1)).toBe(700n);
    expect(state.calls).toBe(1);
    state.time = 10_000;
    state.fees = new Error('no chain');
    expect(await priorityFees.estimate(accounts, 1)).toBe(700n);
    expect(state.calls).toBe(2);
  });

  it('is there without waiting once it was asked for in the background', async () => {
    const { state, priorityFees } = cluster([700]);
    expect(priorityFees.latest(accounts, 1)).toBe(0n);
    expect(await priorityFees.estimate(accounts, 1)).toBe(700n);
    expect(priorityFees.latest(accounts, 1)).toBe(700n);
    expect(state.calls).toBe(1);
  });
});
