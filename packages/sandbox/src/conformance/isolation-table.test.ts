import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { isolationTable, withIsolationTable } from './isolation-table.js';

const DOCUMENT = new URL('../../../../docs/isolation.md', import.meta.url);

test('docs/isolation.md has the table of the conformance cases [EXE-43]', () => {
  const page = readFileSync(DOCUMENT, 'utf8');
  expect(page).toContain(`\n${isolationTable()}\n`);
  expect(withIsolationTable(page, isolationTable())).toBe(page);
});

test('a driver that promises less shows in the table [EXE-43]', () => {
  const cellsOf = (attempt: string): string[] =>
    isolationTable()
      .split('\n')
      .find((line) => line.startsWith(`| ${attempt} |`))
      ?.split(' | ')
      .slice(1) ?? [];
  expect(cellsOf('memory bomb').map((cell) => cell.startsWith('contained'))).toEqual([true, true, false]);
  expect(cellsOf('signals').map((cell) => cell.startsWith('contained'))).toEqual([true, true, true]);
});

test('the table of a page is replaced, and nothing else', () => {
  const page = 'before\n\n| attempt | x |\n| --- | --- |\n| old | old |\n\nafter\n';
  expect(withIsolationTable(page, '| attempt |\n| new |')).toBe('before\n\n| attempt |\n| new |\n\nafter\n');
  expect(() => withIsolationTable('no table', '')).toThrow('no table');
});
