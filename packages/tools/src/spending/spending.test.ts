import { describe, expect, it } from 'vitest';
import { memoryLedger, type SpendingLedger } from './ledger.js';
import { ApprovalRequiredError, SpendingRefusedError, type SpendingPolicy } from './policy.js';
import { createSpending, type Spending } from './spending.js';

const HOUR_MS = 60 * 60 * 1_000;

const rental = (lamports: number, agentId = 'a-aaaaaa') =>
  ({ kind: 'rental', agentId, title: 'A', lamports }) as const;
const run = (lamports: number, agentId = 'a-aaaaaa') =>
  ({ kind: 'run', agentId, title: 'A', lamports }) as const;

/** Which rule refuses, or `null`. */
async function ruleOf(attempt: Promise<unknown>): Promise<unknown> {
  try {
    await attempt;
    return null;
  } catch (error) {
    if (!(error instanceof SpendingRefusedError)) throw error;
    return error.rule;
  }
}

function keeping(policy: SpendingPolicy, ledger?: SpendingLedger) {
  const clock = { nowMs: 100 * HOUR_MS };
  const spending = createSpending({ policy, ledger, now: () => clock.nowMs });
  let count = 0;
  const reserve: Spending['reserve'] = spending.reserve;
  const spend = (request: Parameters<typeof reserve>[1]) => reserve(`id ${(count += 1)}`, request);
  return { spending, spend, clock };
}

describe('a spending policy', () => {
  it('that names nothing limits nothing', async () => {
    const { spend } = keeping({});
    expect(await ruleOf(spend(rental(1e15)))).toBeNull();
    expect(await ruleOf(spend(run(1e15)))).toBeNull();
  });

  it('pays no run above its limit, and no rental that agrees to one [REN-4]', async () => {
    const { spend } = keeping({ maxRunLamports: 100n });
    expect(await ruleOf(spend(run(100)))).toBeNull();
    expect(await ruleOf(spend(run(101)))).toBe('maxRunLamports');
    expect(await ruleOf(spend({ ...rental(5_000), maxRunLamports: 100 }))).toBeNull();
    expect(await ruleOf(spend({ ...rental(5_000), maxRunLamports: 101 }))).toBe('maxRunLamports');
  });

  it('spends its day to the last lamport, runs and rentals apart, and has a new one after 24 hours [REN-4]', async () => {
    const { spend, clock } = keeping({ maxDayLamports: 100n });
    expect(await ruleOf(spend(rental(60)))).toBeNull();
    expect(await ruleOf(spend(rental(41)))).toBe('maxDayLamports');
    expect(await ruleOf(spend(rental(40)))).toBeNull();
    expect(await ruleOf(spend(run(100)))).toBeNull();
    clock.nowMs += 24 * HOUR_MS - 1;
    expect(await ruleOf(spend(rental(1)))).toBe('maxDayLamports');
    clock.nowMs += 2;
    expect(await ruleOf(spend(rental(100)))).toBeNull();
  });

  it('gives one listing no more than its share of the day [REN-4]', async () => {
    const { spend } = keeping({ maxListingLamports: 100n, maxDayLamports: 150n });
    expect(await ruleOf(spend(rental(80)))).toBeNull();
    expect(await ruleOf(spend(rental(21)))).toBe('maxListingLamports');
    expect(await ruleOf(spend(rental(70, 'b-aaaaaa')))).toBeNull();
  });

  it('pays only the named listings [REN-4]', async () => {
    const { spend } = keeping({ listingIds: ['a-aaaaaa'] });
    expect(await ruleOf(spend(run(1)))).toBeNull();
    expect(await ruleOf(spend(run(1, 'b-aaaaaa')))).toBe('listingIds');
    expect(await ruleOf(spend(rental(1, 'b-aaaaaa')))).toBe('listingIds');
    expect(await ruleOf(keeping({ listingIds: [] }).spend(run(1)))).toBe('listingIds');
  });

  it('counts the charge of a run, and nothing for a run that did not happen', async () => {
    const { spend } = keeping({ maxDayLamports: 100n });
    await (await spend(run(100))).settle(30n);
    await (await spend(run(70))).settle(0n);
    expect(await ruleOf(spend(run(71)))).toBe('maxDayLamports');
    expect(await ruleOf(spend(run(70)))).toBeNull();
  });

  it('counts the same money once, and keeps it counted when a repeat comes to nothing', async () => {
    const { spending } = keeping({ maxDayLamports: 100n });
    await (await spending.reserve('one', run(100))).settle(100n);
    await (await spending.reserve('one', run(100))).settle(0n);
    expect(await ruleOf(spending.reserve('two', run(1)))).toBe('maxDayLamports');
  });

  it('allows exactly as many spends as fit, also if many come at once', async () => {
    const { spend } = keeping({ maxDayLamports: 100n });
    const rules = await Promise.all(Array.from({ length: 40 }, () => ruleOf(spend(rental(10)))));
    expect(rules.filter((rule) => rule === null)).toHaveLength(10);
  });

  it('is not broken by two processes that share a ledger and look at the same moment', async () => {
    const shared = memoryLedger();
    let arrived = 0;
    let open = (): void => undefined;
    const both = new Promise<void>((resolve) => (open = resolve));
    // Both have written before either looks.
    const ledger: SpendingLedger = {
      ...shared,
      since: async (timeMs) => {
        if ((arrived += 1) === 2) open();
        await both;
        return shared.since(timeMs);
      },
    };
    const rules = await Promise.all(
      ['one', 'two'].map((id) =>
        ruleOf(createSpending({ policy: { maxDayLamports: 100n }, ledger }).reserve(id, rental(60))),
      ),
    );
    expect(rules).toContain('maxDayLamports');
    expect(
      await ruleOf(
        createSpending({ policy: { maxDayLamports: 100n }, ledger: shared }).reserve('3', rental(41)),
      ),
    ).toBe(rules.includes(null) ? 'maxDayLamports' : null);
  });
});

describe('above the policy’s amount', () => {
  const policy = { askAboveLamports: 100n, maxDayLamports: 200n };

  it('a yes pays, and the approver sees its purpose [REN-4]', async () => {
    const { spending } = keeping(policy);
    const asked: unknown[] = [];
    const approve = (request: unknown) => Boolean(asked.push(request));
    await spending.reserve('a', rental(100), { approve });
    expect(asked).toEqual([]);
    await spending.reserve('b', rental(101, 'b-aaaaaa'), { approve }).catch(() => undefined);
    expect(asked).toEqual([]);
    await spending.reserve('c', run(101), { approve });
    expect(asked).toEqual([{ kind: 'run', agentId: 'a-aaaaaa', title: 'A', lamports: 101 }]);
  });

  it.each([
    ['a no', () => false],
    ['an answer that is no yes', () => 'yes' as never],
  ])('%s is a refusal, and nothing is counted [REN-4]', async (_name, approve) => {
    const { spending } = keeping(policy);
    expect(await ruleOf(spending.reserve('a', rental(200), { approve }))).toBe('askAboveLamports');
    expect(await ruleOf(spending.reserve('b', rental(200), { approve: () => true }))).toBeNull();
  });

  it('a missing approver is a refusal with the unapproved spend [REN-4]', async () => {
    const { spending } = keeping(policy);
    const refused = spending.reserve('a', rental(150));
    await expect(refused).rejects.toBeInstanceOf(ApprovalRequiredError);
    await expect(refused).rejects.toMatchObject({ request: rental(150) });
    expect(await ruleOf(spending.reserve('b', rental(200), { approve: () => true }))).toBeNull();
  });
});
