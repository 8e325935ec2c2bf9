import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { HistoryIndex } from './history-index.js';

const bytes = (name: string): Buffer => createHash('sha256').update(name).digest();

describe('HistoryIndex', () => {
  const fill = (index: HistoryIndex, count: number): void => {
    for (let number = index.count; number < count; number += 1) {
      index.add(
        bytes(`signature ${number}`),
        [bytes('everyone'), bytes(`address ${number % 10}`)],
        number * 100,
      );
    }
  };

  it.each([
    ['filled', (index: HistoryIndex) => index],
    [
      'dumped and loaded',
      (index: HistoryIndex) => {
        const loaded = new HistoryIndex();
        loaded.load(index.dump());
        return loaded;
      },
    ],
  ])('finds by signature and address, newest first, when %s', (_, prepare) => {
    const original = new HistoryIndex();
    fill(original, 10_000);
    original.drop(9_990);
    const index = prepare(original);
    fill(index, 10_100);
    expect(index.count).toBe(10_100);
    for (const number of [0, 4_095, 4_096, 9_999, 10_099]) {
      expect([...index.withSignature(bytes(`signature ${number}`))]).toContain(number);
      expect(index.locationOf(number)).toBe(number * 100);
    }
    expect([...index.withSignature(bytes('unknown'))]).toEqual([]);
    const everyone = [...index.withAddress(bytes('everyone'))];
    expect(everyone).toEqual(
      Array.from({ length: 10_100 }, (_, age) => 10_099 - age).filter((n) => n !== 9_990),
    );
    expect([...index.withAddress(bytes('address 0'))].slice(0, 12).at(-1)).toBe(9_970);
    expect([...index.withSignature(bytes('signature 9990'))]).toEqual([]);
    expect([index.locationOf(9_990), index.locationOf(20_000)]).toEqual([null, null]);
  });

  it('finds the newest of a signature that landed again', () => {
    const index = new HistoryIndex();
    index.add(bytes('twice'), [], 1);
    index.drop(0);
    index.add(bytes('twice'), [], 2);
    expect([...index.withSignature(bytes('twice'))]).toEqual([1]);
  });
});
