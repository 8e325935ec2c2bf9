import { canonicalJson, type Listing } from '@agent-rental/contract';
import type { Violation } from '../publishing/violations.js';
import { changesBetween, type FieldChange } from './public-changes.js';

/** The fields of the form that have a value today, by the path of the request's member. */
type Texts = ReadonlyMap<string, string>;

/** The changes of a creator in the form. */
export interface Edited {
  /** The body of the update, with the changed members alone. */
  readonly body: Readonly<Record<string, unknown>>;
  readonly changes: readonly FieldChange[];
  readonly faults: readonly Violation[];
}

const SCHEMAS = ['input_schema', 'output_schema'];
const ICON = 'listing.icon';
/** The text of the field for an icon that is to be removed; no base64. */
export const NO_ICON = '-';
const SAMPLES = [0, 1, 2].map((index) => `listing.sample_output.${index}`);

/** Today's values of a listing, as the form shows them. The prompt is in no answer, so it is empty. */
export function textsOf(listing: Listing): Texts {
  return new Map([
    ['listing.title', listing.title],
    ['category', listing.category.join(', ')],
    ['description', listing.description],
    ['listing.readme', listing.readme ?? ''],
    ...SAMPLES.map((path, index) => [path, listing.sample_output[index] ?? ''] as const),
    ['input_schema', inLines(listing.input_schema)],
    ['output_schema', inLines(listing.output_schema)],
    ['system_prompt', ''],
  ]);
}

/** Compares the form with today's values. */
export function editedAgent(today: Texts, typed: Texts): Edited {
  const faults: Violation[] = [];
  const before = new Map<string, string>();
  const after = new Map<string, string>();
  for (const [path, text] of typed) {
    try {
      before.set(path, comparable(path, today.get(path) ?? ''));
      after.set(path, comparable(path, text));
    } catch (error) {
      before.delete(path);
      faults.push({ path, message: `is not JSON: ${(error as Error).message}` });
    }
  }
  const changes = changesBetween(before, after);
  const changed = changes.map(({ field }) => field);
  const listing: Record<string, unknown> = {};
  const body: Record<string, unknown> = {};
  for (const path of changed) {
    const text = after.get(path) ?? '';
    if (SCHEMAS.includes(path)) body[path] = JSON.parse(text);
    else if (SAMPLES.includes(path)) listing['sample_output'] = samplesIn(after);
    else if (path === 'listing.readme') listing['readme'] = text === '' ? null : text;
    else if (path === ICON) listing['icon'] = typed.get(path) === NO_ICON ? null : typed.get(path);
    else if (path.startsWith('listing.')) listing[path.slice('listing.'.length)] = text;
    else body[path] = text;
  }
  return { body: Object.keys(listing).length === 0 ? body : { ...body, listing }, changes, faults };
}

const samplesIn = (texts: Texts) =>
  SAMPLES.map((path) => texts.get(path) ?? '').filter((text) => text !== '');

/** The text for comparison: line feeds alone, as in fields of a page, and schemas without regard to the order of members. */
function comparable(path: string, text: string): string {
  if (SCHEMAS.includes(path)) return inLines(JSON.parse(text));
  if (path === ICON && text !== '') {
    return text === NO_ICON
      ? 'a picture that is made from the id'
      : `a picture of ${atob(text).length} bytes`;
  }
  return text.replaceAll(/\r\n?/g, '\n').trim();
}

const inLines = (schema: unknown) => JSON.stringify(JSON.parse(canonicalJson(schema)), null, 2);
