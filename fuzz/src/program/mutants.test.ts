import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { allMutants, breakSource } from './mutants.js';

const SRC = fileURLToPath(new URL('../../../programs/marketplace/src', import.meta.url));
const mutants = allMutants(SRC);

test('each mutant changes one place of the source', () => {
  for (const mutant of mutants) {
    const source = readFileSync(join(SRC, mutant.file), 'utf8');
    expect(breakSource(source, mutant), mutant.does).not.toBe(source);
  }
});

test('each file with checks has mutants, and their names are unique', () => {
  const names = mutants.map(({ file, does }) => `${file} ${does}`);
  expect(new Set(names).size).toBe(names.length);
  expect(new Set(mutants.map(({ file }) => file)).size).toBeGreaterThan(30);
  expect(mutants.length).toBeGreaterThanOrEqual(370);
});

test('a text that occurs twice in the source is refused', () => {
  const twice = { file: 'a.rs', does: 'breaks', replacements: [['x', 'y'] as const] };
  expect(() => breakSource('x x', twice)).toThrow('"breaks": the source has the text 2 times');
});
