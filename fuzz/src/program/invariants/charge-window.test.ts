import { readFileSync } from 'node:fs';
import { marketplaceSoPath } from '@agent-rental/program-client/artifact';
import { describe, expect, test } from 'vitest';
import {
  chargeSequence,
  ChargedSet,
  MAX_JUMP,
  WINDOW_WIDTH,
  type ChargeWindow,
} from '../model/charge-window.js';
import { Random } from '@agent-rental/test/support/random';
import { Shop } from './shop.test-support.js';

const so = readFileSync(process.env['MARKETPLACE_SO'] ?? marketplaceSoPath());

/** What the algorithm says, in the oracle's terms. */
function verdictOf(charged: ChargeWindow | string): string | null {
  return typeof charged === 'string' ? charged : null;
}

describe('the charge window of width 8', () => {
  const WIDTH = 8n;

  test('agrees with a set of what was charged, for every order of every choice of sequences', () => {
    let tried = 0;
    // Depth first over all orders: each step branches over every sequence that tells something.
    const walk = (window: ChargeWindow, path: readonly bigint[], depth: number): void => {
      const oracle = new ChargedSet(WIDTH);
      path.forEach((sequence) => oracle.add(sequence));
      const { highest } = window;
      const candidates = [
        0n,
        1n,
        2n,
        5n,
        7n,
        8n,
        9n,
        highest + 1n,
        highest + 3n,
        highest + WIDTH,
        highest + MAX_JUMP,
      ];
      for (const sequence of new Set(candidates)) {
        const charged = chargeSequence(window, sequence, WIDTH);
        expect(verdictOf(charged)).toBe(oracle.verdict(sequence));
        tried += 1;
        if (typeof charged !== 'string' && depth > 0) {
          walk(charged, [...path, sequence], depth - 1);
        }
      }
    };
    walk({ highest: 0n, bits: 0n }, [], 4);
    expect(tried).toBeGreaterThan(10_000);
  });

  test('is right from each of its 256 states, for every sequence near and far', () => {
    for (const highest of [0n, 3n, 7n, 8n, 100n, 2n ** 64n - 1n]) {
      for (let bits = 0n; bits < 256n; bits += 1n) {
        // A window of which the highest sequence itself is not charged exists before the first charge only.
        const oracle = new ChargedSet(WIDTH);
        const charged = Array.from({ length: 8 }, (_, age) => BigInt(age)).filter(
          (age) => (bits >> age) % 2n === 1n && age <= highest,
        );
        if (highest > 0n && !charged.includes(0n)) {
          continue;
        }
        charged.forEach((age) => oracle.add(highest - age));
        const reachable = charged.reduce((sum, age) => sum | (1n << age), 0n);
        const far = [MAX_JUMP - 1n, MAX_JUMP, MAX_JUMP + 1n].map((jump) => highest + jump);
        const near = Array.from({ length: 24 }, (_, index) => highest - 12n + BigInt(index));
        for (const sequence of [...near, ...far].filter((each) => each >= 0n)) {
          const top = sequence > highest ? sequence : highest;
          const bits = [...charged.map((age) => highest - age), sequence]
            .map((each) => top - each)
            .filter((age) => age < WIDTH)
            .reduce((sum, age) => sum | (1n << age), 0n);
          const expected = oracle.verdict(sequence) ?? { highest: top, bits };
          expect(chargeSequence({ highest, bits: reachable }, sequence, WIDTH)).toEqual(expected);
        }
      }
    }
  });
});

describe("the program's window of 256", () => {
  const AGES = [0n, 1n, 62n, 63n, 64n, 65n, 127n, 128n, 191n, 192n, 254n, 255n, 256n, 257n, 1_000n];
  const JUMPS = [1n, 2n, 63n, 64n, 65n, 127n, 128n, 192n, 255n, 256n, 257n, 1_023n, MAX_JUMP, MAX_JUMP + 1n];

  test('charges each sequence at most once, and refuses none that it can still tell apart', () => {
    const random = new Random(256);
    for (let round = 0; round < 4; round += 1) {
      const shop = new Shop(so, round);
      const oracle = new ChargedSet();
      let charged = 0;
      for (let step = 0; step < 1_500; step += 1) {
        const { highest } = oracle;
        const sequence = random.pick([
          highest + 1n,
          highest + random.pick(JUMPS),
          highest - random.pick(AGES),
          highest - BigInt(random.below(Number(WINDOW_WIDTH))),
        ]);
        const tried = sequence < 0n ? 0n : sequence;
        const expected = oracle.verdict(tried);
        expect(shop.consume(tried), `${tried} at ${highest}`).toBe(expected);
        if (expected === null) {
          oracle.add(tried);
          charged += 1;
        }
      }
      expect(charged).toBeGreaterThan(500);
    }
  });
});
