/** A place of a creator's schema in a portable form: values of one type, or of one of several types. */
export type SchemaNode = TypedNode | UnionNode;

/** Values of one type. */
export interface TypedNode {
  readonly kind: NodeKind;
  /** The creator's words, already cleaned and bounded. */
  readonly description?: string | undefined;
  /** Keywords that the portable profile lacks, in words. */
  readonly notes: readonly string[];
  /** String: the only values, if they can be published. */
  readonly values?: readonly string[] | undefined;
  /** Unchanged `minimum`, `maxItems` and similar keywords. */
  readonly limits: Readonly<Record<string, number>>;
  readonly properties: ReadonlyMap<string, SchemaNode>;
  readonly required: ReadonlySet<string>;
  /** Object: the creator's schema has rules for members that are not in `properties`. */
  readonly open: boolean;
  /** Array: the node of its items; absent: anything. */
  readonly items?: SchemaNode | undefined;
  /** Tuple: the node of each place. */
  readonly places?: readonly SchemaNode[] | undefined;
  /** Part of the creator's schema is missing in this node, or only in words. */
  readonly loose: boolean;
}

/** Values of one of several types: at most one option for each type except objects. */
export interface UnionNode {
  readonly kind: 'union';
  readonly description?: string | undefined;
  readonly notes: readonly string[];
  readonly options: readonly TypedNode[];
  readonly loose: boolean;
}

/** The types of JSON Schema. */
export type NodeKind = 'object' | 'string' | 'number' | 'integer' | 'boolean' | 'array' | 'null';

/** Empty fields, shared by most nodes: a page of rentals has thousands of nodes. */
const NONE = {
  notes: [] as readonly string[],
  limits: {},
  properties: new Map<string, SchemaNode>(),
  required: new Set<string>(),
} as const;

type GivenFields = { readonly [Field in keyof TypedNode]?: TypedNode[Field] | undefined };

/** A node of a kind with only the fields in `given`. */
export function bareNode(kind: NodeKind, given: GivenFields = {}): TypedNode {
  // Always all fields in this order: nodes of one shape are several times faster to make and to read.
  return {
    kind,
    description: given.description,
    notes: given.notes ?? NONE.notes,
    values: given.values,
    limits: given.limits ?? NONE.limits,
    properties: given.properties ?? NONE.properties,
    required: given.required ?? NONE.required,
    open: given.open ?? false,
    items: given.items,
    places: given.places,
    loose: given.loose ?? false,
  };
}

/** A node of several types. One option gives this option; no option gives any value. */
export function unionOf(
  options: readonly TypedNode[],
  given: { description?: string | undefined; notes?: readonly string[]; loose?: boolean } = {},
): SchemaNode {
  const { description, notes = NONE.notes, loose = false } = given;
  const [only] = options;
  if (only === undefined) return anyNode(notes, description);
  if (options.length > 1) {
    return { kind: 'union', description, notes, options, loose: loose || options.some((each) => each.loose) };
  }
  return {
    ...only,
    description: description ?? only.description,
    notes: notes.length === 0 ? only.notes : [...only.notes, ...notes],
    loose: loose || only.loose,
  };
}

/** All distinct types; an integer is a number. */
const ALL_KINDS: readonly NodeKind[] = ['object', 'string', 'number', 'boolean', 'array', 'null'];
const ANY_OPTIONS = ALL_KINDS.map((kind) => bareNode(kind));

/** Any JSON value. */
export function anyNode(notes: readonly string[] = NONE.notes, description?: string): UnionNode {
  return { kind: 'union', description, notes, options: ANY_OPTIONS, loose: true };
}

/** The kinds of a schema without `type`. */
export function allKinds(): readonly NodeKind[] {
  return ALL_KINDS;
}

/** Whether a node is any JSON value. */
export function isAny(node: SchemaNode): boolean {
  return node.kind === 'union' && node.options === ANY_OPTIONS;
}

/** The types that a value may have. */
export function optionsOf(node: SchemaNode): readonly TypedNode[] {
  return node.kind === 'union' ? node.options : [node];
}

/** Whether a value may be null. */
export function allowsNull(node: SchemaNode): boolean {
  return optionsOf(node).some(({ kind }) => kind === 'null');
}

/** The properties of an object node. A required property without a description may be anything. */
export function propertiesOf(node: TypedNode): ReadonlyMap<string, SchemaNode> {
  const undescribed = Array.from(node.required).filter((name) => !node.properties.has(name));
  if (undescribed.length === 0) return node.properties;
  return new Map([...node.properties, ...undescribed.map((name) => [name, anyNode()] as const)]);
}
