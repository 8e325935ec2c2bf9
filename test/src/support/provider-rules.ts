/**
 * The providers' published rules on the schemas of functions, as checks of one whole parameters schema. Each gives
 * the breaches it finds, none for an accepted schema.
 */

type Schema = Record<string, unknown>;

interface Place {
  readonly path: string;
  readonly schema: Schema;
  /** How many objects are around it. */
  readonly depth: number;
}

/** Every schema in a schema that has no references, nor alternatives but `anyOf`; those count as breaches elsewhere. */
function* places(schema: Schema, path = '#', depth = 0): Generator<Place> {
  yield { path, schema, depth };
  for (const option of (schema['anyOf'] ?? []) as Schema[]) yield* places(option, path, depth);
  const properties = (schema['properties'] ?? {}) as Record<string, Schema>;
  for (const [name, property] of Object.entries(properties)) {
    yield* places(property, `${path}/${name}`, depth + 1);
  }
  if (schema['items'] !== undefined) yield* places(schema['items'] as Schema, `${path}/*`, depth);
}

function breaches(schema: Schema, judge: (place: Place) => Iterable<string>): string[] {
  return [...places(schema)].flatMap((place) =>
    [...judge(place)].map((breach) => `${place.path}: ${breach}`),
  );
}

/**
 * OpenAI, function calling without `strict`, held to the bounds of structured outputs all the same.
 *
 * - https://platform.openai.com/docs/guides/function-calling
 * - https://platform.openai.com/docs/guides/structured-outputs#supported-schemas
 */
export function openAiBreaches(parameters: Schema): string[] {
  const all = [...places(parameters)];
  const found = breaches(parameters, function* ({ path, schema, depth }) {
    // "schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level"
    if (path === '#' && schema['type'] !== 'object') yield 'the root is no object';
    for (const keyword of ['oneOf', 'anyOf', 'allOf', 'enum', 'not']) {
      if (path === '#' && keyword in schema) yield `${keyword} at the root`;
    }
    // "array schema missing items"
    if (schema['type'] === 'array' && typeof schema['items'] !== 'object') yield 'an array without items';
    for (const keyword of ['allOf', 'not', 'dependentRequired', 'dependentSchemas', 'if', 'then', 'else']) {
      if (keyword in schema) yield keyword;
    }
    if (depth > 10) yield 'more than 10 levels of objects';
    const values = (schema['enum'] ?? []) as string[];
    if (values.length > 250 && values.join('').length > 15_000)
      yield 'an enumeration of over 15,000 characters';
  });
  const values = all.flatMap(({ schema }) => (schema['enum'] ?? []) as string[]);
  const names = all.flatMap(({ schema }) => Object.keys(schema['properties'] ?? {}));
  if (values.length > 1_000) found.push('more than 1,000 enumerated values');
  if (names.length > 5_000) found.push('more than 5,000 properties');
  if ([...values, ...names].join('').length > 120_000)
    found.push('more than 120,000 characters of names and values');
  return found;
}

/**
 * Anthropic, `input_schema` of a tool.
 *
 * - https://platform.claude.com/docs/en/agents-and-tools/tool-use/implement-tool-use
 * - https://platform.claude.com/docs/en/managed-agents/self-hosted-sandboxes
 *
 * The second page: "rejects reference keywords such as $ref anywhere in a custom tool's input_schema". It also names
 * "top-level oneOf, anyOf, and allOf, and property names outside letters, digits, underscores, dots, and hyphens (1-64
 * characters)".
 */
export function anthropicBreaches(parameters: Schema): string[] {
  return breaches(parameters, function* ({ path, schema }) {
    if (path === '#' && schema['type'] !== 'object') yield 'the root is no object';
    for (const keyword of ['oneOf', 'anyOf', 'allOf']) {
      if (path === '#' && keyword in schema) yield `${keyword} at the root`;
    }
    for (const keyword of ['$ref', '$dynamicRef', '$recursiveRef']) if (keyword in schema) yield keyword;
    for (const name of Object.keys(schema['properties'] ?? {})) {
      if (!/^[a-zA-Z0-9_.-]{1,64}$/.test(name)) yield `the property name ${name}`;
    }
  });
}

/** Fields of Gemini's `Schema`, beside which it takes none. */
const GEMINI_FIELDS = new Set(
  (
    'type format title description nullable enum maxItems minItems properties required minProperties maxProperties ' +
    'minLength maxLength pattern example anyOf propertyOrdering default items minimum maximum'
  ).split(' '),
);
const GEMINI_TYPES = ['string', 'number', 'integer', 'boolean', 'array', 'object', 'null'];

/**
 * Gemini, `parameters` of a function declaration: "a select subset of an OpenAPI 3.0 schema object".
 * https://ai.google.dev/api/caching#Schema, https://ai.google.dev/gemini-api/docs/function-calling
 */
export function geminiBreaches(parameters: Schema): string[] {
  return breaches(parameters, function* ({ path, schema }) {
    if (path === '#' && schema['type'] !== 'object') yield 'the root is no object';
    for (const keyword of Object.keys(schema)) if (!GEMINI_FIELDS.has(keyword)) yield keyword;
    if (schema['anyOf'] !== undefined) {
      // "When using any_of, it must be the only field set."
      if (Object.keys(schema).length > 1) yield 'fields beside anyOf';
      // Each option is a `Schema` as well, so it may have an `anyOf` too; no rule says how deep.
      const isDeep = ({ anyOf }: Schema) => (anyOf as Schema[] | undefined)?.some((each) => 'anyOf' in each);
      if ((schema['anyOf'] as Schema[]).some(isDeep)) yield 'anyOf in anyOf in anyOf';
      return;
    }
    // A list of types is refused, and so is no type.
    if (!GEMINI_TYPES.includes(schema['type'] as string)) yield 'no single type';
    if (schema['enum'] !== undefined) {
      // "Possible values of the element of Type.STRING"; an empty one is "cannot be empty".
      const values = schema['enum'] as unknown[];
      if (schema['type'] !== 'string') yield 'an enumeration that is not of strings';
      if (values.length === 0 || values.some((value) => typeof value !== 'string' || value === '')) {
        yield 'an enumerated value that is empty or no string';
      }
    }
    // "properties: should be non-empty for OBJECT type"
    const properties = schema['properties'] as object | undefined;
    if (properties !== undefined && Object.keys(properties).length === 0) yield 'empty properties';
    // "required[0]: property is not defined"
    for (const name of (schema['required'] ?? []) as string[]) {
      if (!Object.hasOwn(properties ?? {}, name)) yield `requires ${name}, which is not defined`;
    }
    if (schema['type'] === 'array' && typeof schema['items'] !== 'object') yield 'an array without items';
    // "string (int64 format)"
    for (const keyword of ['minLength', 'maxLength', 'minItems', 'maxItems']) {
      const limit = schema[keyword];
      if (limit !== undefined && !Number.isSafeInteger(limit)) yield `${keyword} that is no 64-bit integer`;
    }
  });
}

/** Names and descriptions: the narrowest rule of the three. */
export function definitionBreaches(tool: { name: string; description: string }): string[] {
  const found: string[] = [];
  // Gemini: begins with a letter or an underscore; all: letters, digits, underscores; at most 64 characters.
  if (!/^[a-zA-Z_][a-zA-Z0-9_]{0,63}$/.test(tool.name)) found.push(`the name ${tool.name}`);
  // OpenAI: "string too long. Expected a string with maximum length 1024"
  if (tool.description.length > 1_024) found.push('a description of over 1,024 characters');
  return found;
}
