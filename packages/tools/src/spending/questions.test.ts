import { describe, expect, it } from 'vitest';
import { memoryLedger } from './ledger.js';
import { ApprovalRequiredError, SpendingRefusedError, type Approve } from './policy.js';
import { createSpending } from './spending.js';

const run = { kind: 'run', agentId: 'a-aaaaaa', title: 'A', lamports: 200 } as const;
const policy = { askAboveLamports: 100n };

/** A person whose answer comes from the test. */
function person() {
  const asked: { answer: (yes: unknown) => void; fail: (error: Error) => void; signal?: AbortSignal }[] = [];
  const { promise, resolve } = pending();
  const approve: Approve = (_request, { signal }) =>
    new Promise<boolean>((answer, fail) => {
      asked.push({ answer: answer as (yes: unknown) => void, fail, ...(signal ? { signal } : {}) });
      signal?.addEventListener('abort', () => fail(signal.reason as Error));
      resolve();
    });
  return { asked, approve, isAsked: promise };
}

function pending() {
  let resolve = (): void => undefined;
  const promise = new Promise<void>((done) => (resolve = done));
  return { promise, resolve };
}

/** The outcome of an attempt. */
const outcomeOf = (attempt: Promise<unknown>): Promise<string> =>
  attempt.then(
    () => 'spent',
    (error: unknown) =>
      error instanceof SpendingRefusedError ? error.rule : error instanceof Error ? error.message : 'thrown',
  );

describe('a question to a person', () => {
  it.each([
    [true, 'spent'],
    [false, 'askAboveLamports'],
  ])(
    'is put once to a call that repeats while it is open; answered %s, both are %s [REN-4]',
    async (yes, end) => {
      const spending = createSpending({ policy });
      const { asked, approve, isAsked } = person();
      let spent = 0;
      const attempt = () => outcomeOf(spending.reserve('one', run, { approve }).then(() => (spent += 1)));
      const first = attempt();
      await isAsked;
      const [second, third] = [attempt(), attempt()];
      // After another question and its answer, a repeat without a question would have spent.
      await spending.reserve('other', run, { approve: () => true });
      expect(spent).toBe(0);
      expect(asked).toHaveLength(1);
      asked[0]?.answer(yes);
      expect(await Promise.all([first, second, third])).toEqual([end, end, end]);
      expect(asked).toHaveLength(1);
    },
  );

  it('has its answer for a repeat that comes later, and is put again about another amount [REN-4]', async () => {
    const spending = createSpending({ policy });
    const no: Approve = () => false;
    const yes: Approve = () => true;
    expect(await outcomeOf(spending.reserve('one', run, { approve: no }))).toBe('askAboveLamports');
    expect(await outcomeOf(spending.reserve('one', run, { approve: yes }))).toBe('askAboveLamports');
    expect(await outcomeOf(spending.reserve('one', { ...run, lamports: 201 }, { approve: yes }))).toBe(
      'spent',
    );
    expect(await outcomeOf(spending.reserve('two', run, { approve: yes }))).toBe('spent');
  });

  it('stays open for the repeat when the first caller leaves, and ends with the last caller [REN-4]', async () => {
    const spending = createSpending({ policy });
    const { asked, approve, isAsked } = person();
    const [one, two] = [new AbortController(), new AbortController()];
    const first = outcomeOf(spending.reserve('one', run, { approve, signal: one.signal }));
    await isAsked;
    const second = outcomeOf(spending.reserve('one', run, { approve, signal: two.signal }));
    // The repeat waits by then.
    await spending.reserve('other', { ...run, lamports: 1 });
    one.abort(new Error('the first left'));
    expect(await first).toBe('the first left');
    expect(asked[0]?.signal?.aborted).toBe(false);
    two.abort(new Error('the second left'));
    expect(await second).toBe('the second left');
    expect(asked[0]?.signal?.aborted).toBe(true);
    // The question has no answer, so it is asked again.
    expect(await outcomeOf(spending.reserve('one', run, { approve: () => true }))).toBe('spent');
  });

  it('that could not be put is put by the repeat that can [REN-4]', async () => {
    const spending = createSpending({ policy });
    const [without, person] = await Promise.allSettled([
      spending.reserve('one', run),
      spending.reserve('one', run, { approve: () => true }),
    ]);
    expect(without).toMatchObject({
      status: 'rejected',
      reason: expect.any(ApprovalRequiredError) as unknown,
    });
    expect(person.status).toBe('fulfilled');
  });

  it('is put once to two processes that share a ledger [REN-4]', async () => {
    const ledger = memoryLedger();
    const { asked, approve, isAsked } = person();
    const [here, there] = [createSpending({ policy, ledger }), createSpending({ policy, ledger })];
    const first = outcomeOf(here.reserve('one', run, { approve }));
    await isAsked;
    let isSpent = false;
    const second = outcomeOf(there.reserve('one', run, { approve }).then(() => (isSpent = true)));
    await there.reserve('other', run, { approve: () => true });
    expect({ isSpent, asked: asked.length }).toEqual({ isSpent: false, asked: 1 });
    asked[0]?.answer(true);
    expect(await Promise.all([first, second])).toEqual(['spent', 'spent']);
    expect(asked).toHaveLength(1);
    // The same money, counted once.
    expect(await ledger.since(0)).toHaveLength(2);
  });

  it('is not put about a spend that a limit refuses anyway', async () => {
    const spending = createSpending({ policy: { ...policy, maxDayLamports: 150n } });
    const { asked, approve } = person();
    expect(await outcomeOf(spending.reserve('one', run, { approve }))).toBe('maxDayLamports');
    expect(asked).toHaveLength(0);
  });
});

describe('the same money', () => {
  it('for more than was allowed is other money: asked about, and counted [REN-13]', async () => {
    const ledger = memoryLedger();
    const spending = createSpending({ policy: { ...policy, maxDayLamports: 250n }, ledger });
    const cheap = { ...run, lamports: 1 };
    await spending.reserve('one', cheap);
    expect(await outcomeOf(spending.reserve('one', run))).toBe('No one could be asked to approve.');
    expect(await outcomeOf(spending.reserve('one', run, { approve: () => true }))).toBe('spent');
    expect(await outcomeOf(spending.reserve('one', { ...run, lamports: 300 }))).toBe('maxDayLamports');
    expect((await ledger.since(0)).reduce((sum, { lamports }) => sum + lamports, 0n)).toBe(201n);
  });

  it('that came to less needs no second approval: a repeat has its answer and pays nothing', async () => {
    const spending = createSpending({ policy });
    await (await spending.reserve('one', run, { approve: () => true })).settle(30n);
    expect(await outcomeOf(spending.reserve('one', run))).toBe('spent');
  });

  it('stays counted for a second call when the first one came to nothing', async () => {
    const ledger = memoryLedger();
    const spending = createSpending({ policy: {}, ledger });
    const first = await spending.reserve('one', run);
    const second = await spending.reserve('one', run);
    expect([first.isRepeat, second.isRepeat]).toEqual([false, true]);
    await first.settle(0n);
    expect(await ledger.since(0)).toHaveLength(1);
  });

  it('counts from the time at which it may move, not from when it was allowed', async () => {
    const clock = { nowMs: 1_000_000 };
    const hourMs = 3_600_000;
    const spending = createSpending({ policy: { maxDayLamports: 250n }, now: () => clock.nowMs });
    await spending.reserve('one', run);
    clock.nowMs += 23 * hourMs;
    await spending.reserve('one', run);
    clock.nowMs += 2 * hourMs;
    expect(await outcomeOf(spending.reserve('two', run))).toBe('maxDayLamports');
    clock.nowMs += 23 * hourMs;
    expect(await outcomeOf(spending.reserve('two', run))).toBe('spent');
  });
});
