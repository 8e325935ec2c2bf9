import { readFileSync } from 'node:fs';
import { marketplaceSoPath } from '@agent-rental/program-client/artifact';
import { describe, expect, test } from 'vitest';
import { MAX_JUMP, WINDOW_WIDTH } from '../model/charge-window.js';
import { Random } from '@agent-rental/test/support/random';
import { Shop } from './shop.test-support.js';

const so = readFileSync(process.env['MARKETPLACE_SO'] ?? marketplaceSoPath());

describe('the program’s window of 256', () => {
  const AGES = [0n, 1n, 62n, 63n, 64n, 65n, 127n, 128n, 191n, 192n, 254n, 255n, 256n, 257n, 1_000n];
  const JUMPS = [1n, 2n, 63n, 64n, 65n, 127n, 128n, 192n, 255n, 256n, 257n, 1_023n, MAX_JUMP, MAX_JUMP + 1n];

  test('charges each sequence at most once, and refuses only charged, too old and too high ones', () => {
    const random = new Random(256);
    for (let round = 0; round < 4; round += 1) {
      const shop = new Shop(so, round);
      const charged = new Set<bigint>();
      let highest = 0n;
      for (let step = 0; step < 1_500; step += 1) {
        const sequence = random.pick([
          highest + 1n,
          highest + random.pick(JUMPS),
          highest - random.pick(AGES),
          highest - BigInt(random.below(Number(WINDOW_WIDTH))),
        ]);
        const tried = sequence < 0n ? 0n : sequence;
        const isSpent = charged.has(tried) || tried + WINDOW_WIDTH <= highest;
        const refusal = isSpent ? 'RunAlreadyConsumed' : null;
        const expected = tried > highest + MAX_JUMP ? 'SequenceTooFar' : refusal;
        expect(shop.consume(tried), `${tried} at ${highest}`).toBe(expected);
        if (expected === null) {
          charged.add(tried);
          highest = tried > highest ? tried : highest;
        }
      }
      expect(charged.size).toBeGreaterThan(500);
    }
  });
});
