export interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Actual Rows'?: number;
  readonly 'Actual Loops'?: number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Rows Removed by Index Recheck'?: number;
  readonly Plans?: readonly PlanNode[];
}

export interface CarriedOut {
  readonly statement: string;
  readonly plan: PlanNode;
  /** `custom`: planned for the values of one execution. `generic`: planned for any values. */
  readonly planned: 'custom' | 'generic';
}

/** A statement that reads a growing table as a whole. */
export interface TableScan {
  readonly table: string;
  /** `sequential`: row by row. `whole`: more than half of its rows, by an index. */
  readonly how: 'sequential' | 'whole';
  readonly rows: number;
  readonly by: string;
  readonly planned: CarriedOut['planned'];
  readonly statement: string;
}

export interface Tables {
  readonly growing: ReadonlyMap<string, number>;
  readonly roots: ReadonlyMap<string, string>;
}

const EXPLAINED = /^duration: [\d.]+ ms {2}plan:\n/;

/** Reads a notice of `auto_explain` in JSON; undefined for any other notice. */
export function readExplained(notice: string): Omit<CarriedOut, 'planned'> | undefined {
  const [beginning] = EXPLAINED.exec(notice) ?? [];
  if (beginning === undefined) return undefined;
  const explained = JSON.parse(notice.slice(beginning.length)) as { 'Query Text': string; Plan: PlanNode };
  return { statement: explained['Query Text'].replaceAll(/\s+/g, ' ').trim(), plan: explained.Plan };
}

/** Finds the scans of growing tables, each statement and table once. */
export function findScans(all: Iterable<CarriedOut>, { growing, roots }: Tables): TableScan[] {
  const found = new Map<string, TableScan>();
  for (const { statement, plan, planned } of all) {
    const read = new Map<string, { rows: number; isSequential: boolean; by: string[] }>();
    for (const node of nodesOf(plan)) {
      const table = roots.get(node['Relation Name'] ?? '');
      // A `ModifyTable` node repeats the rows of the scan below it.
      if (table === undefined || !growing.has(table) || !node['Node Type'].endsWith('Scan')) continue;
      const { rows = 0, isSequential = false, by = [] } = read.get(table) ?? {};
      const { 'Node Type': type, 'Index Name': index } = node;
      read.set(table, {
        rows: rows + rowsRead(node),
        isSequential: isSequential || type === 'Seq Scan',
        by: [...by, index === undefined ? type : `${type} using ${index}`],
      });
    }
    for (const [table, { rows, isSequential, by }] of read) {
      if (!isSequential && rows <= (growing.get(table) ?? 0) / 2) continue;
      const key = `${table} ${statement}`;
      const before = found.get(key);
      if (before && (before.rows >= rows || (before.how === 'sequential' && !isSequential))) continue;
      const how = isSequential ? 'sequential' : 'whole';
      found.set(key, { table, how, rows, by: by.join(', '), planned, statement });
    }
  }
  return [...found.values()];
}

function* nodesOf(node: PlanNode): Generator<PlanNode> {
  yield node;
  for (const below of node.Plans ?? []) yield* nodesOf(below);
}

/** The rows that a node read. PostgreSQL reports averages over the loops. */
function rowsRead(node: PlanNode): number {
  const once =
    (node['Actual Rows'] ?? 0) +
    (node['Rows Removed by Filter'] ?? 0) +
    (node['Rows Removed by Index Recheck'] ?? 0);
  return Math.round(once * (node['Actual Loops'] ?? 0));
}
