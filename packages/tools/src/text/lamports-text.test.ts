import { formatSol } from '@agent-rental/contract';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { lamportsOfSol } from './lamports-text.js';

describe('an amount of SOL in lamports', () => {
  it.each([
    [0, 0n],
    [0.1, 100_000_000n],
    [0.29, 290_000_000n],
    [1e-9, 1n],
    [999_999.123456789, 999_999_123_456_789n],
    // Rounded down to a lamport: a budget is never more than its text.
    [0.0120049999, 12_004_999n],
    [9.99e-10, 0n],
    [0.9999999999, 999_999_999n],
  ])('%d SOL is %s', (sol, lamports) => {
    expect(lamportsOfSol(sol)).toBe(lamports);
  });

  it.each([-1, Number.NaN, Number.POSITIVE_INFINITY, 1_000_001])('%d is no amount', (sol) => {
    expect(lamportsOfSol(sol)).toBeUndefined();
  });

  it('equals its text, for every number of lamports, and is never more', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 10n ** 15n }), (lamports) => {
        expect(lamportsOfSol(Number.parseFloat(formatSol(lamports)))).toBe(lamports);
      }),
    );
    fc.assert(
      fc.property(fc.double({ min: 0, max: 1_000, noNaN: true }), (sol) => {
        const lamports = lamportsOfSol(sol) ?? 0n;
        expect(Number.parseFloat(formatSol(lamports))).toBeLessThanOrEqual(sol);
        expect(Number.parseFloat(formatSol(lamports + 2n))).toBeGreaterThan(sol);
      }),
    );
  });
});
