/** A place of a creator's schema, read into what every provider understands: values of one type, or of one of several. */
export type SchemaNode = TypedNode | UnionNode;

/** Values of one type. */
export interface TypedNode {
  readonly kind: NodeKind;
  /** The creator's words, already cleaned and bounded. */
  readonly description?: string | undefined;
  /** Keywords that the portable profile lacks, in words. */
  readonly notes: readonly string[];
  /** Of a string: the only values, where they can be published. */
  readonly values?: readonly string[] | undefined;
  /** `minimum`, `maxItems` and the like, as they are. */
  readonly limits: Readonly<Record<string, number>>;
  readonly properties: ReadonlyMap<string, SchemaNode>;
  readonly required: ReadonlySet<string>;
  /** Of an object: the creator's schema speaks of members that are not among `properties`. */
  readonly open: boolean;
  /** Of an array: what any of its items may be; absent: anything. */
  readonly items?: SchemaNode | undefined;
  /** Of a tuple: the node of each place. */
  readonly places?: readonly SchemaNode[] | undefined;
  /** Something of the creator's schema is not in this node, or only in words. */
  readonly loose: boolean;
}

/** Values of one of several types: at most one option for each type but objects. */
export interface UnionNode {
  readonly kind: 'union';
  readonly description?: string | undefined;
  readonly notes: readonly string[];
  readonly options: readonly TypedNode[];
  readonly loose: boolean;
}

/** The types of JSON Schema. */
export type NodeKind = 'object' | 'string' | 'number' | 'integer' | 'boolean' | 'array' | 'null';

/** What most nodes lack; they share it, because a page of rentals has thousands of nodes. */
const NONE = {
  notes: [] as readonly string[],
  limits: {},
  properties: new Map<string, SchemaNode>(),
  required: new Set<string>(),
} as const;

type GivenFields = { readonly [Field in keyof TypedNode]?: TypedNode[Field] | undefined };

/** A node of a kind, with nothing said about it beside `given`. */
export function bareNode(kind: NodeKind, given: GivenFields = {}): TypedNode {
  // Every field, always in this order: nodes of one shape are several times faster to make and to read.
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

/** Values of one of several types; of one, that type; of none, which no value can have, anything. */
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

/** Every type that tells a value from those of the others: an integer is a number. */
const ALL_KINDS: readonly NodeKind[] = ['object', 'string', 'number', 'boolean', 'array', 'null'];
const ANY_OPTIONS = ALL_KINDS.map((kind) => bareNode(kind));

/** Any JSON value. */
export function anyNode(notes: readonly string[] = NONE.notes, description?: string): UnionNode {
  return { kind: 'union', description, notes, options: ANY_OPTIONS, loose: true };
}

/** The kinds of which a schema without `type` may be. */
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

/** The properties of an object node; one that is required without being described may be anything. */
export function propertiesOf(node: TypedNode): ReadonlyMap<string, SchemaNode> {
  const undescribed = Array.from(node.required).filter((name) => !node.properties.has(name));
  if (undescribed.length === 0) return node.properties;
  return new Map([...node.properties, ...undescribed.map((name) => [name, anyNode()] as const)]);
}
