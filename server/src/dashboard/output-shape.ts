import { checkJson, parseJson } from '@agent-rental/contract';

/** How an output is shown to a person. */
export type OutputShape =
  /** Objects of the same members: a table. */
  | {
      readonly kind: 'table';
      readonly columns: readonly string[];
      readonly rows: readonly (readonly string[])[];
    }
  /** One object: its members, each with its value or with a table of it. */
  | {
      readonly kind: 'members';
      readonly members: readonly (readonly [
        name: string,
        value: Exclude<OutputShape, { kind: 'members' }>,
      ])[];
    }
  /** Anything else. */
  | { readonly kind: 'text'; readonly text: string };

const MOST_COLUMNS = 8;
const MOST_ROWS = 100;
const MOST_MEMBERS = 30;
/** Longer values are read as JSON, not in a table. */
const CELL_CHARACTERS = 2_000;

/** The shape of an agent's output. All its texts are a stranger's. */
export function shapeOf(output: unknown): OutputShape {
  const text = typeof output === 'string' ? output : JSON.stringify(output, null, 2);
  if (Array.isArray(output)) return tableOf(output) ?? { kind: 'text', text };
  if (!isRecord(output)) return { kind: 'text', text };
  const entries = Object.entries(output);
  if (entries.length === 0 || entries.length > MOST_MEMBERS) return { kind: 'text', text };
  return { kind: 'members', members: entries.map(([name, value]) => [name, memberOf(value)]) };
}

/** The shape of a sample, which is text that may be JSON. */
export function shapeOfText(text: string): OutputShape {
  try {
    checkJson(text);
    const parsed: unknown = parseJson(text);
    if (typeof parsed === 'object' && parsed !== null) return shapeOf(parsed);
  } catch {
    // It is not JSON, or has a number that JavaScript would change.
  }
  return { kind: 'text', text };
}

function memberOf(value: unknown): Exclude<OutputShape, { kind: 'members' }> {
  const table = Array.isArray(value) ? tableOf(value) : undefined;
  return table ?? { kind: 'text', text: cellOf(value) };
}

function tableOf(items: readonly unknown[]): Extract<OutputShape, { kind: 'table' }> | undefined {
  if (items.length === 0 || items.length > MOST_ROWS || !items.every(isRecord)) return undefined;
  const columns = [...new Set(items.flatMap((item) => Object.keys(item)))];
  if (columns.length === 0 || columns.length > MOST_COLUMNS) return undefined;
  const rows = items.map((item) => columns.map((column) => (column in item ? cellOf(item[column]) : '')));
  return { kind: 'table', columns, rows };
}

function cellOf(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length <= CELL_CHARACTERS ? text : `${text.slice(0, CELL_CHARACTERS)}...`;
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
