import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { conformanceCases, threats } from './index.js';
import type { SandboxDriver } from '../sandbox.js';

const DOCUMENT = new URL('../../../../docs/isolation.md', import.meta.url);

/** The drivers that the columns speak of, in their order: what each announces. */
const columns = [
  { title: '`kernel`', isolation: 'kernel', memoryBounded: true, endsWithHost: true },
  { title: '`runtime` on Linux', isolation: 'runtime', memoryBounded: true, endsWithHost: true },
  { title: '`runtime` elsewhere', isolation: 'runtime', memoryBounded: false, endsWithHost: false },
] as const;
type Column = (typeof columns)[number];

function bounds(column: Column, threat: string): boolean {
  const driver = { isolation: column.isolation, guarantees: column } as unknown as SandboxDriver;
  return conformanceCases
    .filter((item) => item.threat === threat)
    .every(({ appliesTo }) => appliesTo?.(driver) ?? true);
}

/** What tests of the drivers show beside the conformance cases. */
const beside: Readonly<Record<string, (column: Column) => boolean>> = {
  "limits while the server's event loop is blocked": ({ memoryBounded }) => memoryBounded,
  "an orphaned busy loop after the server's `kill -9`": ({ endsWithHost }) => endsWithHost,
};

function cellsOf(line: string): string[] {
  return line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim());
}

const lines = readFileSync(DOCUMENT, 'utf8').split('\n');
const header = lines.findIndex((line) => line.startsWith('| attempt '));
const end = lines.findIndex((line, at) => at > header && !line.startsWith('|'));
const rows = lines.slice(header + 2, end).map(cellsOf);

describe('the table of what each level bounds', () => {
  test('has the columns and rows that the tests have [EXE-43]', () => {
    expect(cellsOf(lines[header] ?? '').slice(1)).toEqual(columns.map(({ title }) => title));
    expect(rows.map(([threat]) => threat)).toEqual([...threats, ...Object.keys(beside)]);
    expect(threats.filter((threat) => !conformanceCases.some((item) => item.threat === threat))).toEqual([]);
  });

  test.each(rows.map((row) => [row[0] ?? '', row.slice(1)] as const))(
    'says of "%s" what holds [EXE-43]',
    (threat, cells) => {
      expect(cells.map((cell) => cell.startsWith('contained'))).toEqual(
        columns.map((column) => beside[threat]?.(column) ?? bounds(column, threat)),
      );
      // What is not bounded says so, and what is left.
      for (const cell of cells) expect(cell).toMatch(/^(contained|\*\*not bounded\*\*: .+)/);
    },
  );
});
