import type { Json, JsonObject } from '@agent-rental/contract';

const PORTABLE = new Set([
  'type',
  'description',
  'enum',
  'properties',
  'required',
  'items',
  'minimum',
  'maximum',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
]);

/** Breaches of the function schema rules of OpenAI, Anthropic and Gemini, published or reported by users. */
export function breachesOfPortability(schema: unknown, path = ''): string[] {
  const node = schema as Record<string, Json>;
  // OpenAI takes ten levels, with the tool's level.
  if (path.split('/').length > 10) return [`${path}: too deep`];
  const options = node['anyOf'] as JsonObject[] | undefined;
  if (options !== undefined) {
    // Gemini refuses keywords beside `anyOf`.
    const beside = Object.keys(node).length > 1 ? [`${path}: has more than anyOf`] : [];
    // Objects among other values have a separate level, and Gemini accepts `anyOf` in an option.
    const isTooDeep = options.some(({ anyOf }) =>
      (anyOf as JsonObject[] | undefined)?.some((each) => 'anyOf' in each),
    );
    const nested = isTooDeep ? [`${path}: has anyOf in anyOf in anyOf`] : [];
    return [...beside, ...nested, ...options.flatMap((option) => breachesOfPortability(option, path))];
  }
  const found = Object.keys(node).flatMap((keyword) =>
    PORTABLE.has(keyword) ? [] : [`${path}: has ${keyword}`],
  );
  if (typeof node['type'] !== 'string') found.push(`${path}: no type`);
  if (node['enum'] !== undefined && node['type'] !== 'string') found.push(`${path}: enum of other values`);
  if (node['type'] === 'array' && node['items'] === undefined) found.push(`${path}: no items`);
  const properties = (node['properties'] ?? {}) as JsonObject;
  for (const name of (node['required'] ?? []) as string[]) {
    if (!Object.hasOwn(properties, name)) found.push(`${path}: requires ${name}`);
  }
  for (const [name, property] of Object.entries(properties)) {
    if (!/^[a-zA-Z0-9_.-]{1,64}$/.test(name)) found.push(`${path}: named ${name}`);
    found.push(...breachesOfPortability(property, `${path}/${name}`));
  }
  return node['items'] === undefined
    ? found
    : [...found, ...breachesOfPortability(node['items'], `${path}/*`)];
}
