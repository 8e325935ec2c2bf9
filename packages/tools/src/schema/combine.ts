import { anyNode, bareNode, isAny, optionsOf, unionOf, type SchemaNode, type TypedNode } from './node.js';

/** Highest number of objects in a union. More become one object with any members. */
const MAX_OBJECTS = 8;

/**
 * Intersects two nodes (`allOf`, `$ref`, and keywords beside each other). The result is never narrower than the true
 * intersection: a rule that cannot be combined comes from one node. Of two contradicting nodes, the first counts.
 */
export function intersectNodes(first: SchemaNode, second: SchemaNode): SchemaNode {
  const description = first.description ?? second.description;
  const notes = joined(first.notes, second.notes);
  if (isAny(second)) return withWords(first, { description, notes });
  if (isAny(first)) return withWords(second, { description, notes });
  if (first.kind !== 'union' && second.kind !== 'union') {
    return intersectTyped(first, second) ?? { ...first, description, notes, loose: true };
  }
  const options = optionsOf(first).flatMap((one) =>
    optionsOf(second).flatMap((other) => intersectTyped(one, other) ?? []),
  );
  if (options.length === 0) return withWords(first, { description, notes });
  return uniteNodes(options, { description, notes });
}

function withWords(
  node: SchemaNode,
  words: { description: string | undefined; notes: readonly string[] },
): SchemaNode {
  return { ...node, ...words };
}

function joined(first: readonly string[], second: readonly string[]): readonly string[] {
  if (second.length === 0) return first;
  return first.length === 0 ? second : [...new Set([...first, ...second])];
}

/** Undefined if no value fits both. */
function intersectTyped(first: TypedNode, second: TypedNode): TypedNode | undefined {
  const kind = commonKind(first, second);
  if (kind === undefined) return undefined;
  const properties = new Map(first.properties);
  for (const [name, node] of second.properties) {
    const known = properties.get(name);
    properties.set(name, known === undefined ? node : intersectNodes(known, node));
  }
  const values =
    first.values && second.values
      ? first.values.filter((value) => second.values?.includes(value))
      : (first.values ?? second.values);
  if (values?.length === 0) return undefined;
  return {
    kind: first.kind === 'integer' || second.kind === 'integer' ? 'integer' : kind,
    description: first.description ?? second.description,
    notes: joined(first.notes, second.notes),
    values,
    // Both limits hold. Of two limits with one name, the first is published.
    limits: { ...second.limits, ...first.limits },
    properties,
    required: new Set([...first.required, ...second.required]),
    open: first.open || second.open,
    items:
      first.items && second.items ? intersectNodes(first.items, second.items) : (first.items ?? second.items),
    places: first.places ?? second.places,
    loose: first.loose || second.loose,
  };
}

/**
 * Unites several nodes (`anyOf`, `oneOf`, a list of types). Options of one type become one option with the values of all.
 * Objects stay separate, because a member may have a different type in each.
 */
export function uniteNodes(
  alternatives: readonly SchemaNode[],
  given: { description?: string | undefined; notes?: readonly string[] } = {},
): SchemaNode {
  const united: TypedNode[] = [];
  const notes = [...(given.notes ?? [])];
  for (const alternative of alternatives) {
    if (isAny(alternative)) return anyNode(notes, given.description ?? alternative.description);
    if (alternative.kind === 'union') notes.push(...alternative.notes);
    for (const option of optionsOf(alternative)) addOption(united, option);
  }
  const objects = united.filter(({ kind }) => kind === 'object');
  const options =
    objects.length > MAX_OBJECTS
      ? [bareNode('object', { loose: true }), ...united.filter(({ kind }) => kind !== 'object')]
      : united;
  return unionOf(options, { ...given, notes: [...new Set(notes)] });
}

function addOption(united: TypedNode[], option: TypedNode): void {
  const index = united.findIndex((known) =>
    option.kind === 'object' ? isSame(known, option) : commonKind(known, option) !== undefined,
  );
  const known = united[index];
  if (known === undefined) united.push(option);
  else if (option.kind !== 'object') united[index] = uniteTyped(known, option);
}

/** Unites two nodes of one type, except objects. */
function uniteTyped(first: TypedNode, second: TypedNode): TypedNode {
  const limits = Object.entries(first.limits).filter(([name, limit]) => second.limits[name] === limit);
  return bareNode(commonKind(first, second) ?? first.kind, {
    description: first.description === second.description ? first.description : undefined,
    notes: joined(first.notes, second.notes),
    values: first.values && second.values ? [...new Set([...first.values, ...second.values])] : undefined,
    limits: Object.fromEntries(limits),
    items: first.items && second.items ? uniteNodes([first.items, second.items]) : undefined,
    loose: first.loose || second.loose || first.values === undefined || second.values === undefined,
  });
}

/** Whether two options publish the same. Branches of a union may differ only in unpublished keywords. */
function isSame(first: TypedNode, second: TypedNode): boolean {
  if (first === second) return true;
  const isBare = ({ properties, required }: TypedNode) => properties.size === 0 && required.size === 0;
  return first.kind === 'object' && isBare(first) && isBare(second);
}

/** The type that includes the values of both. */
function commonKind(first: TypedNode, second: TypedNode): TypedNode['kind'] | undefined {
  if (first.kind === second.kind) return first.kind;
  const kinds = new Set([first.kind, second.kind]);
  return kinds.has('number') && kinds.has('integer') ? 'number' : undefined;
}
