type Schema = Record<string, unknown>;

/**
 * A value as a model writes it that follows a published schema: JSON as text where that asks for a text, and the
 * absence of what is null where null cannot be said.
 */
export function inPublishedForm(published: Schema, value: unknown): unknown {
  const { type } = published;
  if (type === 'string') {
    return typeof value === 'string' && !says(published, '(as JSON text') ? value : JSON.stringify(value);
  }
  if (type === 'array' && Array.isArray(value)) {
    return value.map((item) => inPublishedForm(published['items'] as Schema, item));
  }
  if (type !== 'object' || typeof value !== 'object' || value === null) return value;
  const properties = (published['properties'] ?? {}) as Record<string, Schema>;
  const required = (published['required'] ?? []) as string[];
  const members = Object.entries(value).flatMap(([name, item]): [string, unknown][] => {
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (property === undefined) return [[name, item]];
    if (item === null && !says(property, 'as JSON text') && !required.includes(name)) return [];
    return [[name, inPublishedForm(property, item)]];
  });
  return Object.fromEntries(members);
}

function says({ type, description }: Schema, words: string): boolean {
  return type === 'string' && typeof description === 'string' && description.includes(words);
}

/**
 * Whether what arrived is what was meant. Where a schema allows both, text cannot be told from a scalar, nor absence
 * from null.
 */
export function meansTheSame(arrived: unknown, meant: unknown): boolean {
  if (meant === null) return arrived === null || arrived === undefined || arrived === 'null';
  if (typeof meant !== 'object') return arrived === meant || arrived === JSON.stringify(meant);
  if (typeof arrived !== 'object' || arrived === null) return false;
  const [some, other] = [arrived as Schema, meant as Schema];
  const names = new Set([...Object.keys(some), ...Object.keys(other)]);
  return [...names].every((name) =>
    meansTheSame(some[name], Object.hasOwn(other, name) ? other[name] : null),
  );
}
