import { onOneLine } from '../on-one-line.js';

type Single = string | number | boolean | null;
/** A value of JSON. */
type Value = Single | readonly Value[] | { readonly [name: string]: Value };

/** A record as lines for people: its members aligned, and each record of a list on a line. Texts are shown as data. */
export function asText(record: { readonly [name: string]: Value }, indent = ''): string {
  const width = Math.max(...Object.keys(record).map((name) => name.length)) + 2;
  return Object.entries(record)
    .map(([name, value]) => {
      const label = `${indent}${name}`;
      if (isSingle(value)) return `${label.padEnd(indent.length + width)}${plain(value)}`;
      if (Array.isArray(value)) {
        if (value.length === 0) return `${label.padEnd(indent.length + width)}none`;
        return [label, ...value.map((each) => `${indent}  - ${inline(each)}`)].join('\n');
      }
      return `${label}\n${asText(value as { readonly [name: string]: Value }, `${indent}  `)}`;
    })
    .join('\n');
}

function inline(value: Value): string {
  if (isSingle(value)) return plain(value);
  if (Array.isArray(value)) return value.map(inline).join(' ');
  return Object.entries(value)
    .map(([name, each]) => `${name} ${inline(each)}`)
    .join(', ');
}

const isSingle = (value: Value): value is Single => typeof value !== 'object' || value === null;

const plain = (value: Single): string => (value === null ? 'none' : onOneLine(String(value)));
