import { canonicalJson, type Listing } from '@agent-rental/contract';
import { structuredPatch } from 'diff';

/** The public part of a version, by field, as lines of text. */
export type PublicPart = ReadonlyMap<string, string>;

/** A line of a comparison; a gap replaces equal lines. */
export interface ChangedLine {
  readonly kind: 'same' | 'added' | 'removed' | 'gap';
  readonly text: string;
}

/** The differences in one field. */
export interface FieldChange {
  readonly field: string;
  readonly lines: readonly ChangedLine[];
}

/** Equal lines shown beside each change. */
const CONTEXT_LINES = 3;
/** A longer comparison would hold up the page, and no person reads it. */
const MOST_MS = 500;
const SCHEMAS = ['input_schema', 'output_schema'] as const;

/** The public part of a listing's version. */
export function publicPartOf(
  listing: Pick<Listing, 'category' | 'description' | (typeof SCHEMAS)[number]>,
): PublicPart {
  return new Map([
    ['category', listing.category.join(', ')],
    ['description', listing.description],
    ...SCHEMAS.map((field) => [field, schemaText(listing[field])] as const),
  ]);
}

/** The same of a manifest that is not sent yet. */
export function publicPartOfManifest(manifest: Readonly<Record<string, unknown>>): PublicPart {
  const { category, description } = manifest;
  return new Map([
    ['category', typeof category === 'string' ? category : ''],
    ['description', typeof description === 'string' ? description : ''],
    ...SCHEMAS.map((field) => [field, schemaText(manifest[field] ?? {})] as const),
  ]);
}

/** The fields that differ, with the lines that do. */
export function changesBetween(before: PublicPart, after: PublicPart): FieldChange[] {
  return [...after]
    .map(([field, text]) => ({ field, lines: linesBetween(before.get(field) ?? '', text) }))
    .filter(({ lines }) => lines.length > 0);
}

/** A schema in lines. The order of its members means nothing, and is not kept everywhere. */
function schemaText(schema: unknown): string {
  return JSON.stringify(JSON.parse(canonicalJson(schema)), null, 2);
}

function linesBetween(before: string, after: string): ChangedLine[] {
  if (before === after) return [];
  const patch = structuredPatch('', '', `${before}\n`, `${after}\n`, undefined, undefined, {
    context: CONTEXT_LINES,
    timeout: MOST_MS,
  });
  if (patch === undefined) return [...allOf('removed', before), ...allOf('added', after)];
  let end = 1;
  return patch.hunks.flatMap(({ oldStart, oldLines, lines }) => {
    const skipped = oldStart - end;
    end = oldStart + oldLines;
    const gap = skipped > 0 ? [{ kind: 'gap', text: gapText(skipped) } as const] : [];
    return [...gap, ...lines.map(toLine)];
  });
}

function toLine(line: string): ChangedLine {
  const kinds = { '+': 'added', '-': 'removed' } as const;
  return { kind: kinds[line[0] as keyof typeof kinds] ?? 'same', text: line.slice(1) };
}

const allOf = (kind: 'removed' | 'added', text: string): ChangedLine[] =>
  text.split('\n').map((line) => ({ kind, text: line }));

const gapText = (lines: number): string => (lines === 1 ? '1 equal line' : `${lines} equal lines`);
