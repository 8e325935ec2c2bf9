/** The drafts of JSON Schema that a schema may name, oldest first. */
const DRAFTS = ['draft-04', 'draft-06', 'draft-07', 'draft/2019-09', 'draft/2020-12'] as const;

/** Meanings of keywords, which differ between the drafts. */
export interface Dialect {
  /** Place among the drafts, from the oldest: 0 is draft-04, 4 is 2020-12. */
  readonly age: number;
  /**
   * The schema names no draft. It is read as 2020-12, and spellings that only older drafts have keep their old meaning:
   * tools often leave out `$schema`.
   */
  readonly isUnnamed: boolean;
}

/** Places of the drafts among all. */
export const DRAFT = { four: 0, six: 1, seven: 2, y2019: 3, y2020: 4 } as const;

/** First and last draft that has some keywords. Keywords that are not listed are in all drafts. */
const SPANS: readonly (readonly [first: number, last: number, keywords: readonly string[]])[] = [
  [DRAFT.six, DRAFT.y2020, ['const', 'contains', 'propertyNames']],
  [DRAFT.seven, DRAFT.y2020, ['if', 'then', 'else']],
  [
    DRAFT.y2019,
    DRAFT.y2020,
    ['$anchor', 'dependentRequired', 'dependentSchemas', 'minContains', 'maxContains'],
  ],
  [DRAFT.y2019, DRAFT.y2020, ['unevaluatedItems', 'unevaluatedProperties']],
  [DRAFT.y2019, DRAFT.y2019, ['$recursiveRef', '$recursiveAnchor']],
  [DRAFT.y2020, DRAFT.y2020, ['$dynamicRef', '$dynamicAnchor', 'prefixItems']],
];
/** For each draft, the keywords that it does not have. */
const UNKNOWN = DRAFTS.map(
  (_, age) =>
    new Set(SPANS.flatMap(([first, last, keywords]) => (age < first || age > last ? keywords : []))),
);

/** The dialect that `$schema` names. An unknown name has the meaning of the newest draft. */
export function dialectOf(named: unknown): Dialect {
  if (typeof named !== 'string') return { age: DRAFT.y2020, isUnnamed: true };
  const found = DRAFTS.findIndex((draft) => named.includes(`json-schema.org/${draft}/schema`));
  return { age: found === -1 ? DRAFT.y2020 : found, isUnnamed: false };
}

/** Whether a dialect gives a keyword a meaning. */
export function hasKeyword({ age }: Dialect, keyword: string): boolean {
  return UNKNOWN[age]?.has(keyword) !== true;
}

/** Up to draft-07, a reference replaces all keywords beside it. */
export function isReplacedByReference({ age }: Dialect, schema: Readonly<Record<string, unknown>>): boolean {
  return age <= DRAFT.seven && typeof schema['$ref'] === 'string';
}

/** Keywords whose value is a schema. */
const SCHEMA_KEYWORDS = [
  'additionalItems',
  'additionalProperties',
  'contains',
  'contentSchema',
  'else',
  'if',
  'items',
  'not',
  'propertyNames',
  'then',
  'unevaluatedItems',
  'unevaluatedProperties',
] as const;
/** Keywords whose value is a list of schemas. */
const LIST_KEYWORDS = ['allOf', 'anyOf', 'items', 'oneOf', 'prefixItems'] as const;
/** Keywords whose value has a schema under each name. */
const MAP_KEYWORDS = [
  '$defs',
  'definitions',
  'dependencies',
  'dependentSchemas',
  'patternProperties',
  'properties',
] as const;

/** The schemas directly inside a schema. */
export function* schemasIn(schema: Readonly<Record<string, unknown>>): Generator {
  for (const keyword of SCHEMA_KEYWORDS) {
    if (isObject(schema[keyword])) yield schema[keyword];
  }
  for (const keyword of LIST_KEYWORDS) {
    const list = schema[keyword];
    if (Array.isArray(list)) yield* list;
  }
  for (const keyword of MAP_KEYWORDS) {
    const map = schema[keyword];
    if (isObject(map)) yield* Object.values(map);
  }
}

/** Whether a value is an object of JSON, and no list. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
