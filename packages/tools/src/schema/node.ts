/**
 * A creator's schema, read into what every provider understands: one type per place, no references, no
 * alternatives. Alternatives that cannot be put so become `json`: a string that holds JSON.
 */
export interface SchemaNode {
  readonly kind: NodeKind;
  /** The creator's words, already cleaned and bounded. */
  readonly description?: string | undefined;
  /** Keywords that the portable profile lacks, in words. */
  readonly notes: readonly string[];
  /** Allowed values of a string. */
  readonly values?: readonly string[] | undefined;
  /** `minimum`, `maxItems` and the like, as they are. */
  readonly limits: Readonly<Record<string, number>>;
  readonly properties: ReadonlyMap<string, SchemaNode>;
  readonly required: ReadonlySet<string>;
  readonly items?: SchemaNode | undefined;
  /** Of a `json` node: plain text is allowed too, so that only objects and lists are read as JSON. */
  readonly allowsText?: boolean | undefined;
  /** The value may be null, which the portable profile cannot say: a member that is absent says it. */
  readonly nullable?: boolean | undefined;
  /** Of a tuple: what is in each place; `items` stands for all of them. */
  readonly places?: readonly SchemaNode[] | undefined;
  /** Of a `string` or `json` node: what is not any text, but of some form, or one of some values. */
  readonly isBoundText?: boolean | undefined;
  /** Of a `json` node with bound text: the texts that are known to be meant as they are. */
  readonly texts?: ReadonlySet<string> | undefined;
  /** Of a `json` node with bound text: the scalars beside it; text that is one of them as JSON is read as that. */
  readonly scalars?: ReadonlySet<string> | undefined;
  /** Something of the creator's schema is not in this node, or only in words. */
  readonly loose: boolean;
}

export type NodeKind = 'string' | 'number' | 'integer' | 'boolean' | 'object' | 'array' | 'null' | 'json';

/** What most nodes lack; they share it, because a page of rentals has thousands of nodes. */
const NONE = {
  notes: [] as readonly string[],
  limits: {},
  properties: new Map<string, SchemaNode>(),
  required: new Set<string>(),
} as const;

type GivenFields = { readonly [Field in keyof SchemaNode]?: SchemaNode[Field] | undefined };

/** A node of a kind, with nothing said about it beside `given`. */
export function bareNode(kind: NodeKind, given: GivenFields = {}): SchemaNode {
  // Every field, always in this order: nodes of one shape are several times faster to make and to read.
  return {
    kind,
    description: given.description,
    notes: given.notes ?? NONE.notes,
    values: given.values,
    limits: given.limits ?? NONE.limits,
    properties: given.properties ?? NONE.properties,
    required: given.required ?? NONE.required,
    items: given.items,
    allowsText: given.allowsText,
    nullable: given.nullable,
    places: given.places,
    isBoundText: given.isBoundText,
    texts: given.texts,
    scalars: given.scalars,
    loose: given.loose ?? false,
  };
}

/** Any JSON value. */
export function anyNode(notes: readonly string[] = []): SchemaNode {
  return bareNode('json', { allowsText: true, loose: true, notes });
}

/** The properties of an object node; one that is required without being described may be anything. */
export function propertiesOf(node: SchemaNode): ReadonlyMap<string, SchemaNode> {
  const undescribed = Array.from(node.required).filter((name) => !node.properties.has(name));
  if (undescribed.length === 0) return node.properties;
  return new Map([...node.properties, ...undescribed.map((name) => [name, anyNode()] as const)]);
}
