import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { FairShares } from './fair-shares.js';
import { FakeSandbox } from '../protocol/fake-sandbox.test-support.js';

function sharesWith(maxActive: number, ...inUse: string[]): FairShares {
  const shares = new FairShares(maxActive);
  for (const owner of inUse) shares.add(owner, new FakeSandbox());
  return shares;
}

describe('fair shares', () => {
  test('keep the last quarter of the slots for owners without one', () => {
    const shares = sharesWith(8, ...Array<string>(3).fill('a'), ...Array<string>(3).fill('b'));
    expect(shares.mayTake('a')).toBe(false);
    expect(shares.mayTake('c')).toBe(true);
    shares.add('c', new FakeSandbox());
    expect(shares.mayTake('c')).toBe(false);
    shares.add('d', new FakeSandbox());
    expect(shares.mayTake('e')).toBe(false);
  });

  test('give the next slot to the owner with the fewest, of equal ones to the first', () => {
    const shares = sharesWith(100, 'a', 'a', 'b', 'c');
    expect(shares.next(['a', 'c', 'b'])).toBe('c');
    expect(shares.next(['a', 'd'])).toBe('d');
    expect(shares.next([])).toBeUndefined();
  });

  test('never exceed the limit, and leave no owner out for ever', () => {
    const owners = ['a', 'b', 'c', 'd', 'e'];
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 12 }),
        fc.array(fc.oneof(fc.constantFrom(...owners), fc.nat(11)), { maxLength: 200 }),
        (maxActive, steps) => {
          const shares = new FairShares(maxActive);
          for (const step of steps) {
            const inUse = shares.sandboxes();
            if (typeof step === 'string') {
              if (shares.mayTake(step)) shares.add(step, new FakeSandbox());
            } else {
              const ended = inUse[step % Math.max(1, inUse.length)];
              if (ended !== undefined) shares.remove(ended);
            }
            expect(shares.size).toBeLessThanOrEqual(maxActive);
            // As many calls are counted for as could be given one by one.
            const slots = shares.slotsFor(owners, () => 20);
            expect(slots > 0).toBe(shares.next(owners) !== undefined);
          }
          for (const sandbox of shares.sandboxes()) shares.remove(sandbox);
          for (const owner of owners) expect(shares.mayTake(owner)).toBe(true);
        },
      ),
    );
  });
});
