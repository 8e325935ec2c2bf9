import { anyNode, bareNode, type NodeKind, type SchemaNode } from './node.js';

/** What holds when both hold (`allOf`, and keywords that stand beside each other). Where they contradict, the first. */
export function intersectNodes(first: SchemaNode, second: SchemaNode): SchemaNode {
  const notes = [...first.notes, ...second.notes];
  const description = first.description ?? second.description;
  if (first.kind === 'json') return { ...second, description, notes, loose: second.loose };
  if (second.kind === 'json') return { ...first, description, notes };
  const kind = commonKind(first.kind, second.kind);
  if (kind === undefined) return { ...first, description, notes, loose: true };
  const properties = new Map(first.properties);
  for (const [name, node] of second.properties) {
    const known = properties.get(name);
    properties.set(name, known === undefined ? node : intersectNodes(known, node));
  }
  const values =
    first.values && second.values
      ? first.values.filter((value) => second.values?.includes(value))
      : (first.values ?? second.values);
  return {
    kind: first.kind === 'integer' || second.kind === 'integer' ? 'integer' : kind,
    description,
    notes,
    values: values && values.length > 0 ? values : undefined,
    limits: { ...second.limits, ...first.limits },
    properties,
    required: new Set([...first.required, ...second.required]),
    items:
      first.items && second.items ? intersectNodes(first.items, second.items) : (first.items ?? second.items),
    places: first.places ?? second.places,
    nullable: first.nullable === true && second.nullable === true,
    isBoundText: first.isBoundText === true || second.isBoundText === true,
    loose: first.loose || second.loose,
  };
}

/**
 * What holds when one of several holds (`anyOf`, `oneOf`, a list of types), widened until it is one node:
 * objects become one object with the properties of all, of which only the common ones are required.
 */
export function uniteNodes(alternatives: readonly SchemaNode[]): SchemaNode {
  const [only] = alternatives;
  if (only !== undefined && alternatives.length === 1 && only.kind !== 'null') return only;
  const present = alternatives.filter((node) => node.kind !== 'null');
  const nullable = present.length < alternatives.length;
  const [first, ...rest] = present;
  if (first === undefined) return nullable ? bareNode('null', { loose: true }) : anyNode();
  const united = rest.reduce(uniteTwo, first);
  return nullable ? nullableNode(united) : united;
}

/** The same, or null. */
export function nullableNode(node: SchemaNode): SchemaNode {
  const scalars = new Set([...(node.scalars ?? []), 'null']);
  return { ...node, nullable: true, scalars, notes: [...node.notes, 'may be null'], loose: true };
}

function uniteTwo(first: SchemaNode, second: SchemaNode): SchemaNode {
  const kind = commonKind(first.kind, second.kind);
  const description = first.description === second.description ? first.description : undefined;
  if (kind === undefined || kind === 'json') {
    const allowsText = [first, second].some((node) => node.kind === 'string' || node.allowsText === true);
    const isBoundText = [first, second].every((node) => !isText(node) || node.isBoundText === true);
    return bareNode('json', {
      allowsText,
      isBoundText,
      texts: new Set([first, second].flatMap((node) => [...(node.texts ?? node.values ?? [])])),
      scalars: new Set([first, second].flatMap((node) => [...(node.scalars ?? []), scalarOf(node.kind)])),
      description,
      notes: altered(first, second),
      loose: true,
    });
  }
  const properties = new Map(first.properties);
  for (const [name, node] of second.properties) {
    const known = properties.get(name);
    properties.set(name, known === undefined ? node : uniteNodes([known, node]));
  }
  const required = new Set([...first.required].filter((name) => second.required.has(name)));
  for (const name of [...first.required, ...second.required]) {
    const node = properties.get(name);
    // Required by one alternative alone: absence cannot say that it is null.
    if (node?.nullable === true && !required.has(name)) properties.set(name, asJsonText(node));
  }
  return bareNode(kind, {
    description,
    notes: kind === 'object' ? altered(first, second) : [],
    values: first.values && second.values ? [...new Set([...first.values, ...second.values])] : undefined,
    properties,
    required,
    items: first.items && second.items ? uniteNodes([first.items, second.items]) : undefined,
    isBoundText: first.isBoundText === true && second.isBoundText === true,
    nullable: first.nullable === true || second.nullable === true,
    loose: true,
  });
}

/** A node whose null can be written, as JSON text. */
function asJsonText(node: SchemaNode): SchemaNode {
  return bareNode('json', {
    description: node.description,
    notes: node.kind === 'json' ? node.notes : [...node.notes, node.kind],
    allowsText: isText(node),
    isBoundText: true,
    texts: node.texts ?? new Set(node.values),
    scalars: new Set([...(node.scalars ?? []), scalarOf(node.kind)]),
    loose: true,
  });
}

function isText(node: SchemaNode): boolean {
  return node.kind === 'string' || node.allowsText === true;
}

/** How JavaScript names the scalars of a kind. */
function scalarOf(kind: NodeKind): string {
  return kind === 'integer' ? 'number' : kind;
}

/** Says what the alternatives were, in as few words as tell them apart. */
function altered(first: SchemaNode, second: SchemaNode): string[] {
  const said = [first, second].flatMap((node) => node.notes.filter((note) => note.startsWith('or: ')));
  const outline = (node: SchemaNode): string[] => {
    if (node.notes.some((note) => note.startsWith('or: '))) return [];
    return [`or: ${node.kind === 'object' ? `{${[...node.properties.keys()].join(', ')}}` : node.kind}`];
  };
  return [...new Set([...said, ...outline(first), ...outline(second)])];
}

function commonKind(first: NodeKind, second: NodeKind): NodeKind | undefined {
  if (first === second) return first;
  const kinds = new Set([first, second]);
  return kinds.size === 2 && kinds.has('number') && kinds.has('integer') ? 'number' : undefined;
}
