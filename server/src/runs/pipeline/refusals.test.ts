import { SLOTS_PER_LISTING } from '@agent-rental/contract';
import { describe, expect, it } from 'vitest';
import { ApiError } from '../../errors/api-error.js';
import { createAgentStats } from '../stats/agent-stats.js';
import { answers, errorOf, openPaidRuns, PRICE, type PaidRunWorld } from './paid-run.test-support.js';

const { db, world } = await openPaidRuns();

async function refusing(setup: PaidRunWorld = {}) {
  const made = await world(setup);
  return {
    ...made,
    async refused() {
      await made.noted.flush();
      return (await createAgentStats(db).read(made.row.creator, made.row.id, '24h')).refusals;
    },
  };
}

const NONE = { no_slot: 0, rate_limit: 0, insufficient_balance: 0 };

describe('a refused request is counted for the creator of the listing', () => {
  it('by a balance that is too low [REG-140]', async () => {
    const { execute, refused } = await refusing({ balanceLamports: 0n });
    expect((await errorOf(execute())).code).toBe('insufficient_balance');
    expect(await refused()).toEqual({ ...NONE, insufficient_balance: 1 });
  });

  it('by the rate of the listing [REG-140]', async () => {
    const { execute, listing, refused } = await refusing({ balanceLamports: 5n * PRICE });
    Object.assign(listing, { runsPerMinute: 1 });
    await execute({ idempotencyKey: 'first' });
    for (const idempotencyKey of ['second', 'third']) {
      expect((await errorOf(execute({ idempotencyKey }))).code).toBe('rate_limit_exceeded');
    }
    expect(await refused()).toEqual({ ...NONE, rate_limit: 2 });
  });

  it('by a listing without a free slot [REG-140]', async () => {
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    const { execute, refused } = await refusing({
      balanceLamports: 40n * PRICE,
      agent: async (work) => {
        await released;
        return answers()(work);
      },
    });
    const runs = Array.from({ length: SLOTS_PER_LISTING + 2 }, (_, run) =>
      execute({ idempotencyKey: `run-${run}` }).catch((error: unknown) => error),
    );
    await expect.poll(refused).toEqual({ ...NONE, no_slot: 6 });
    release();
    const ended = await Promise.all(runs);
    expect(ended.filter((end) => end instanceof ApiError)).toHaveLength(6);
  });

  it('but not by the policy of its caller [REG-140]', async () => {
    const { execute, refused } = await refusing({
      allow: () => {
        throw new ApiError('insufficient_balance', 'Too much.', { policyRule: 'max_run_lamports' });
      },
    });
    await errorOf(execute());
    expect(await refused()).toEqual(NONE);
  });
});
