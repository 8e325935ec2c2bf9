import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findRunLogAddress } from '../accounts/addresses.js';
import { fixedAddress, TestChain } from '../testing/chain.js';
import {
  formatRunLogMemo,
  MAX_RUN_LOG_BATCH,
  NO_PREVIOUS_ROOT,
  parseRunLogMemo,
  RUN_LOG_COMPUTE_UNITS,
  runLogInstructions,
} from './run-log-memo.js';

const root = fc
  .uint8Array({ minLength: 32, maxLength: 32 })
  .map((bytes) => Buffer.from(bytes).toString('hex'));
const batch = fc.record({
  batch: fc.bigInt({ min: 1n, max: BigInt(Number.MAX_SAFE_INTEGER) }),
  count: fc.integer({ min: 1, max: MAX_RUN_LOG_BATCH }),
  previousRoot: root,
  root,
});

describe('the memo of a batch', () => {
  it('is read back as it was written', () => {
    fc.assert(
      fc.property(batch, (one) => {
        expect(parseRunLogMemo(formatRunLogMemo(one))).toEqual(one);
      }),
    );
  });

  it('with one character more, less or changed is no memo, or has another meaning', () => {
    fc.assert(
      fc.property(batch, fc.nat(250), fc.constantFrom('', ' ', '0', 'x', '\n', 'é'), (one, at, put) => {
        const text = formatRunLogMemo(one);
        const place = at % (text.length + 1);
        for (const removed of [0, 1]) {
          const changed = text.slice(0, place) + put + text.slice(place + removed);
          // A parsed text formats to the same text: no two texts have the same meaning.
          const read = parseRunLogMemo(changed);
          expect(read === null ? changed : formatRunLogMemo(read)).toBe(changed);
        }
      }),
    );
  });

  it.each([
    ['a batch 0', { batch: 0n }],
    ['a batch beyond what JSON numbers hold', { batch: 9_007_199_254_740_992n }],
    ['no runs', { count: 0 }],
    ['more runs than a batch has', { count: MAX_RUN_LOG_BATCH + 1 }],
    ['a root in capitals', { root: 'A'.repeat(64) }],
    ['a short root', { previousRoot: '0'.repeat(63) }],
  ])('with %s is none', (_, wrong) => {
    const right = { batch: 1n, count: 1, previousRoot: NO_PREVIOUS_ROOT, root: 'a'.repeat(64) };
    expect(parseRunLogMemo(formatRunLogMemo(right))).toEqual(right);
    expect(parseRunLogMemo(formatRunLogMemo({ ...right, ...wrong }))).toBeNull();
  });

  it('at its longest takes less than a tenth of the compute units that its transaction asks for', () => {
    const chain = new TestChain();
    const authority = fixedAddress('authority');
    const longest = {
      batch: BigInt(Number.MAX_SAFE_INTEGER),
      count: MAX_RUN_LOG_BATCH,
      previousRoot: 'f'.repeat(64),
      root: 'f'.repeat(64),
    };
    const instructions = runLogInstructions(longest, authority, chain.programId);
    const outcome = chain.send(...instructions);
    expect(outcome).toMatchObject({ error: null });
    expect(outcome.logs.join('\n')).toContain(formatRunLogMemo(longest));
    expect(Number(outcome.units) * 10).toBeLessThan(RUN_LOG_COMPUTE_UNITS);
    const named = instructions.flatMap(({ keys }) => keys.map(({ pubkey }) => pubkey.toBase58()));
    expect(named).toContain(findRunLogAddress(chain.programId).address.toBase58());
  });
});
