import { describe, expect, it } from 'vitest';
import { changesBetween, publicPartOf, publicPartOfManifest } from './public-changes.js';

const VERSION = {
  category: ['finance' as const],
  description: 'One.\nTwo.',
  input_schema: { type: 'object', properties: { a: { type: 'string' }, b: {} } },
  output_schema: { type: 'string' },
};

describe('what two versions differ in', () => {
  it('is nothing where the order of a schema alone differs [SVC-30]', () => {
    const manifest = {
      ...VERSION,
      category: 'finance',
      input_schema: { properties: { b: {}, a: { type: 'string' } }, type: 'object' },
      system_prompt: 'Never compared.',
    };
    expect(changesBetween(publicPartOf(VERSION), publicPartOfManifest(manifest))).toEqual([]);
  });

  it('is told by field and line, with equal lines around it [SVC-30]', () => {
    const lines = Array.from({ length: 20 }, (_, index) => `Line ${index}.`);
    const before = publicPartOf({ ...VERSION, description: lines.join('\n') });
    const after = publicPartOf({ ...VERSION, description: lines.with(10, 'Another line.').join('\n') });
    expect(changesBetween(before, after)).toEqual([
      {
        field: 'description',
        lines: [
          { kind: 'gap', text: '7 equal lines' },
          { kind: 'same', text: 'Line 7.' },
          { kind: 'same', text: 'Line 8.' },
          { kind: 'same', text: 'Line 9.' },
          { kind: 'removed', text: 'Line 10.' },
          { kind: 'added', text: 'Another line.' },
          { kind: 'same', text: 'Line 11.' },
          { kind: 'same', text: 'Line 12.' },
          { kind: 'same', text: 'Line 13.' },
        ],
      },
    ]);
  });

  it('takes no long time where everything differs, and no form of a manifest breaks it', () => {
    const many = (word: string) =>
      Array.from({ length: 30_000 }, (_, index) => `${word} ${index}`).join('\n');
    const began = performance.now();
    const [change] = changesBetween(
      publicPartOf({ ...VERSION, description: many('a') }),
      publicPartOf({ ...VERSION, description: many('b') }),
    );
    expect(performance.now() - began).toBeLessThan(5_000);
    expect(change?.lines).toHaveLength(60_000);
    for (const schema of [null, 7, 'text', [], undefined]) {
      const manifest = { description: 7, category: [], input_schema: schema };
      expect(changesBetween(publicPartOf(VERSION), publicPartOfManifest(manifest)).length).toBeGreaterThan(0);
    }
  });
});
