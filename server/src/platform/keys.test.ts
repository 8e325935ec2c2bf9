import { expect, it } from 'vitest';
import { deriveKeys } from './keys.js';

const keys = deriveKeys(new Uint8Array(32).fill(1));

it('opens its own sealed bytes, for the same context', () => {
  expect(keys.open(keys.seal('a secret prompt', 'row:1'), 'row:1').toString('utf8')).toBe('a secret prompt');
  expect(keys.open(keys.seal('', 'row:1'), 'row:1')).toHaveLength(0);
});

it('hides the content, and seals equal contents differently', () => {
  const sealed = keys.seal('a secret prompt', 'row:1');
  expect(sealed.includes('secret')).toBe(false);
  expect(keys.seal('a secret prompt', 'row:1').equals(sealed)).toBe(false);
});

it('does not open bytes that moved to another context', () => {
  expect(() => keys.open(keys.seal('text', 'row:1'), 'row:2')).toThrow();
});

it('does not open bytes with one changed byte', () => {
  const sealed = keys.seal('text', 'row:1');
  for (const index of sealed.keys()) {
    const changed = Buffer.from(sealed);
    changed[index] = (changed[index] ?? 0) ^ 1;
    expect(() => keys.open(changed, 'row:1'), `byte ${index}`).toThrow();
  }
});

it('does not open shortened bytes, down to a shorter tag', () => {
  const sealed = keys.seal('text', 'row:1');
  for (let length = 0; length < sealed.length; length += 1) {
    expect(() => keys.open(sealed.subarray(0, length), 'row:1'), `${length} bytes`).toThrow();
  }
});

it('does not open bytes that another master key sealed', () => {
  const others = deriveKeys(new Uint8Array(32).fill(2));
  expect(() => others.open(keys.seal('text', 'row:1'), 'row:1')).toThrow();
});

it('derives the same keys again, and different ones per purpose and master key', () => {
  const again = deriveKeys(new Uint8Array(32).fill(1));
  const others = deriveKeys(new Uint8Array(32).fill(2));
  expect(again.derive('challenge')).toEqual(keys.derive('challenge'));
  expect(others.derive('challenge')).not.toEqual(keys.derive('challenge'));
  expect(keys.derive('jwt')).not.toEqual(keys.derive('receipt'));
});
