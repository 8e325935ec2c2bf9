import { describe, expect, it } from 'vitest';
import { batchByKey, sharedRead } from './batch-by-key.js';

/** Work that ends when it is told to. */
function heldWork() {
  const rounds: { key: string; items: readonly number[]; end(): void; fail(error: Error): void }[] = [];
  const ask = batchByKey<number, number>(
    (key, items) =>
      new Promise((resolve, reject) => {
        const outcomes = items.map((item) =>
          item < 0 ? { error: new RangeError(`${item}`) } : { value: item * 10 },
        );
        rounds.push({ key, items, end: () => resolve(outcomes), fail: reject });
      }),
  );
  return { rounds, ask };
}

describe('work that is asked for at the same time', () => {
  it('is one round after the first, and each item has its own outcome', async () => {
    const { rounds, ask } = heldWork();
    const first = ask('a', 1);
    const others = Promise.allSettled([ask('a', 2), ask('a', -3), ask('a', 4)]);
    expect(rounds.map(({ items }) => items)).toEqual([[1]]);
    rounds[0]?.end();
    expect(await first).toBe(10);
    expect(rounds.map(({ items }) => items)).toEqual([[1], [2, -3, 4]]);
    rounds[1]?.end();
    expect(await others).toMatchObject([{ value: 20 }, { reason: new RangeError('-3') }, { value: 40 }]);
  });

  it('goes on beside the batch of another key, and again after its end', async () => {
    const { rounds, ask } = heldWork();
    const [a, b] = [ask('a', 1), ask('b', 2)];
    expect(rounds.map(({ key }) => key)).toEqual(['a', 'b']);
    for (const { end } of rounds) end();
    expect(await Promise.all([a, b])).toEqual([10, 20]);
    const again = ask('a', 3);
    rounds[2]?.end();
    expect(await again).toBe(30);
  });

  it('fails for all of a round that fails, and the next round is made', async () => {
    const { rounds, ask } = heldWork();
    const first = ask('a', 1).catch((error: unknown) => error);
    const second = ask('a', 2);
    const broken = new Error('no database');
    rounds[0]?.fail(broken);
    expect(await first).toBe(broken);
    rounds[1]?.end();
    expect(await second).toBe(20);
  });
});

describe('a read that is asked for at the same time', () => {
  it('is shared by those who asked before it began, and by no one who came later', async () => {
    const started: { key: string; end(value: string): void; fail(error: Error): void }[] = [];
    const read = sharedRead<string>((key) => new Promise((end, fail) => started.push({ key, end, fail })));
    const [first, other] = [read('a'), read('b')];
    const [second, third] = [read('a'), read('a')];
    expect(started.map(({ key }) => key)).toEqual(['a', 'b']);
    started[0]?.end('before the change');
    started[1]?.end('of another');
    expect(await Promise.all([first, other])).toEqual(['before the change', 'of another']);
    expect(started.map(({ key }) => key)).toEqual(['a', 'b', 'a']);
    started[2]?.end('after the change');
    expect(await Promise.all([second, third])).toEqual(['after the change', 'after the change']);
    const failing = [read('a'), read('a')];
    started[3]?.fail(new Error('gone'));
    await expect(failing[0]).rejects.toThrow('gone');
    started[4]?.end('there again');
    expect(await failing[1]).toBe('there again');
  });
});
