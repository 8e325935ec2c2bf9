import { expect, it } from 'vitest';
import { findScans, readExplained, type CarriedOut, type PlanNode } from './judge.js';

const roots = { runs: 'runs', runs_2026_01: 'runs', charges: 'charges', index_cursor: 'index_cursor' };
const tables = {
  growing: new Map(Object.entries({ runs: 1_000, charges: 1_000 })),
  roots: new Map(Object.entries(roots)),
};

const scan = (type: string, relation: string, rows = 1, loops = 1): PlanNode => ({
  'Node Type': type,
  'Relation Name': relation,
  'Actual Rows': rows,
  'Actual Loops': loops,
});
const carriedOut = (...plans: PlanNode[]): CarriedOut => ({
  statement: 'select',
  planned: 'custom',
  plan: { 'Node Type': 'Append', Plans: plans },
});

it('finds a sequential scan of a partition anywhere in a plan, also in a part that was not carried out', () => {
  const nested = carriedOut({ 'Node Type': 'Result', Plans: [scan('Seq Scan', 'runs_2026_01', 0, 0)] });
  expect(findScans([nested], tables)).toEqual([
    { table: 'runs', how: 'sequential', rows: 0, by: 'Seq Scan', planned: 'custom', statement: 'select' },
  ]);
});

it('finds a statement that reads more than half of a table by an index', () => {
  expect(findScans([carriedOut(scan('Index Scan', 'charges', 5, 100))], tables)).toEqual([]);
  const more = { 'Index Name': 'by_time', 'Rows Removed by Filter': 1 };
  const by = 'Index Scan using by_time';
  expect(findScans([carriedOut({ ...scan('Index Scan', 'charges', 5, 100), ...more })], tables)).toEqual([
    { table: 'charges', how: 'whole', rows: 600, by, planned: 'custom', statement: 'select' },
  ]);
});

it('ignores scans of bounded tables, and changes of rows', () => {
  const changed = { ...scan('ModifyTable', 'runs', 0), Plans: [scan('Index Scan', 'runs')] };
  expect(findScans([carriedOut(scan('Seq Scan', 'index_cursor'), changed)], tables)).toEqual([]);
});

it('reports a statement once, with the most rows of its executions', () => {
  const scans = [900, 700, 800].map((rows) => carriedOut(scan('Index Only Scan', 'runs', rows)));
  expect(findScans(scans, tables)).toEqual([
    { table: 'runs', how: 'whole', rows: 900, by: 'Index Only Scan', planned: 'custom', statement: 'select' },
  ]);
});

it('reads notices of auto_explain, and no other notices', () => {
  const plan = { 'Node Type': 'Result' };
  const text = JSON.stringify({ 'Query Text': 'select\n  1', Plan: plan });
  expect(readExplained(`duration: 0.012 ms  plan:\n${text}`)).toEqual({ statement: 'select 1', plan });
  expect(readExplained('relation "files" already exists, skipping')).toBeUndefined();
});
