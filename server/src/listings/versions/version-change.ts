import { canonicalJson, type VersionChange } from '@agent-rental/contract';

type Schema = Record<string, unknown>;

/** Reasons that are told. */
const MOST_REASONS = 20;
/** Deeper parts count as different where they are not equal. */
const MAX_DEPTH = 12;
/** Keywords that decide nothing about validity. */
const NOTES = new Set([
  'title',
  'description',
  'examples',
  'default',
  '$comment',
  'deprecated',
  '$schema',
  '$id',
]);
/** Keywords that are compared one by one; a difference in any other one counts as breaking. */
const COMPARED = new Set(['type', 'properties', 'required', 'additionalProperties', 'items', 'enum']);

/**
 * The meaning of an update for renters of the previous version, from the two schemas. It is `breaking` if a valid input may
 * be refused, or an output may have another form. An unknown difference counts as breaking.
 */
export function versionChange(
  before: { input_schema: unknown; output_schema: unknown },
  after: { input_schema?: unknown; output_schema?: unknown },
): VersionChange {
  const reasons = [
    // Old inputs must stay valid, and new outputs must fit the old schema.
    ...narrowings(before.input_schema, after.input_schema, 'input_schema', 0),
    ...narrowings(after.output_schema, before.output_schema, 'output_schema', 0),
  ];
  return { kind: reasons.length === 0 ? 'compatible' : 'breaking', reasons: reasons.slice(0, MOST_REASONS) };
}

/** Where `narrow` may refuse what `wide` takes. */
function narrowings(wide: unknown, narrow: unknown, at: string, depth: number): string[] {
  if (canonicalJson(wide ?? null) === canonicalJson(narrow ?? null)) return [];
  if (narrow === true || (isSchema(narrow) && rules(narrow).length === 0)) return [];
  if (!isSchema(wide) || !isSchema(narrow) || depth >= MAX_DEPTH) return [`${at} has changed`];
  const other = [...new Set([...rules(wide), ...rules(narrow)])].filter(
    (keyword) =>
      !COMPARED.has(keyword) &&
      narrow[keyword] !== undefined &&
      canonicalJson(wide[keyword] ?? null) !== canonicalJson(narrow[keyword] ?? null),
  );
  return [
    ...other.map((keyword) => `${at}.${keyword} has changed`),
    ...missing(namesOf(wide['type']), namesOf(narrow['type'])).map(
      (type) => `${at}.type: ${type} is not in both`,
    ),
    ...missing(valuesOf(wide['enum']), valuesOf(narrow['enum'])).map(
      (value) => `${at}.enum: ${value} is not in both`,
    ),
    ...objectNarrowings(wide, narrow, at, depth),
    ...(narrow['items'] === undefined
      ? []
      : narrowings(wide['items'] ?? true, narrow['items'], `${at}.items`, depth + 1)),
  ];
}

function objectNarrowings(wide: Schema, narrow: Schema, at: string, depth: number): string[] {
  const [before, after] = [propertiesOf(wide), propertiesOf(narrow)];
  const required = new Set(namesOf(wide['required']));
  const reasons = (namesOf(narrow['required']) ?? [])
    .filter((name) => !required.has(name))
    .map((name) => `${at}.required: ${name} is required in one alone`);
  const rest = narrow['additionalProperties'] ?? true;
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const was = Object.hasOwn(before, name) ? before[name] : (wide['additionalProperties'] ?? true);
    if (was === false) continue;
    const is = Object.hasOwn(after, name) ? after[name] : rest;
    // A member that no schema named was not meant to be sent: a new optional one breaks no renter.
    if (was === true && !Object.hasOwn(before, name)) continue;
    reasons.push(...narrowings(was, is, `${at}.properties.${name}`, depth + 1));
  }
  if (rest === false && wide['additionalProperties'] === undefined && Object.keys(before).length === 0) {
    reasons.push(`${at}.additionalProperties is false in one alone`);
  }
  return reasons;
}

/** Values that `wide` allows and `narrow` does not; `undefined` allows every value. */
function missing(wide: string[] | undefined, narrow: string[] | undefined): string[] {
  if (narrow === undefined) return [];
  if (wide === undefined) return ['anything'];
  const taken = new Set(narrow.includes('number') ? [...narrow, 'integer'] : narrow);
  return wide.filter((value) => !taken.has(value));
}

function namesOf(value: unknown): string[] | undefined {
  if (value === undefined) return undefined;
  return [value].flat().filter((name) => typeof name === 'string');
}

const valuesOf = (value: unknown): string[] | undefined =>
  Array.isArray(value) ? value.map((each: unknown) => canonicalJson(each)) : undefined;

const rules = (schema: Schema): string[] => Object.keys(schema).filter((keyword) => !NOTES.has(keyword));

const propertiesOf = ({ properties }: Schema): Schema => (isSchema(properties) ? properties : {});

const isSchema = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
