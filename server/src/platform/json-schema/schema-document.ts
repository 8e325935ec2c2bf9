import { isObject, isReplacedByReference } from './dialect.js';
import { InvalidSchemaError, NeedsBacktrackingError } from './errors.js';
import type { Check, SchemaNode } from './evaluation.js';
import { Resources, type Resource } from './resources.js';
import { arrayRules, unseenItemRule } from './rules/array-rules.js';
import { logicRules, referenceRules } from './rules/logic-rules.js';
import {
  dependentSchemaRules,
  memberRules,
  propertyRules,
  unseenPropertyRule,
} from './rules/object-rules.js';
import { listedValueRules, numberRules, textRules, typeRule } from './rules/value-rules.js';
import { SchemaPlace, wrongAt, type PartMaker } from './schema-place.js';
import { TextPatterns, type Engine } from './text-pattern.js';

/** Memory of one schema in the document, beside its text. */
const NODE_BYTES = 200;

/**
 * A schema that is ready to judge values. Each schema in it becomes one node, so its memory is bounded by the length of
 * its text.
 */
export class SchemaDocument implements PartMaker {
  readonly root: SchemaNode;
  readonly #resources: Resources;
  readonly #patterns: TextPatterns;
  readonly #nodes = new Map<object, SchemaNode>();
  readonly #links: (() => void)[] = [];
  #nodeCount = 0;

  /**
   * @throws InvalidSchemaError for a schema that refers outside itself, or is wrong.
   * @throws NeedsBacktrackingError for a pattern that the engine does not match.
   */
  constructor(schema: Record<string, unknown>, engine: Engine) {
    this.#patterns = new TextPatterns(engine);
    this.#resources = new Resources(schema);
    this.root = this.node(schema, '', this.#resources.top);
    // A reference may lead to a place that no keyword leads to, and the schema there has references, too.
    for (let link = this.#links.pop(); link; link = this.#links.pop()) link();
  }

  /** Bytes of memory that it takes, beside its text. */
  get bytes(): number {
    return this.#nodeCount * NODE_BYTES + this.#patterns.bytes;
  }

  node(schema: unknown, pointer: string, outer: Resource): SchemaNode {
    const home = (isObject(schema) && this.#resources.homeOf(schema)) || outer;
    const known = isObject(schema) ? this.#nodes.get(schema) : undefined;
    if (known) return known;
    const node: SchemaNode = { resource: home, checks: [], tracks: false };
    this.#nodeCount += 1;
    if (schema === true) return node;
    if (schema === false) {
      node.checks.push((_value, at, evaluation) => evaluation.fail(at, 'is not allowed by the schema'));
      return node;
    }
    if (!isObject(schema))
      throw new InvalidSchemaError(wrongAt(pointer, 'a schema must be an object, true or false'));
    this.#nodes.set(schema, node);
    if (Object.keys(schema).length === 0) return node;
    const place = new SchemaPlace(schema, { self: node, pointer, maker: this });
    const references = referenceRules(place);
    const checks = checksOf(place);
    node.tracks = ['unevaluatedItems', 'unevaluatedProperties'].some(
      (keyword) => place.get(keyword) !== undefined,
    );
    for (const keyword of ['$defs', 'definitions']) place.nodeMap(keyword);
    node.checks.push(
      ...(isReplacedByReference(home.dialect, schema) ? references : [...references, ...checks]),
    );
    return node;
  }

  link(reference: string, from: SchemaNode, pointer: string): { target: SchemaNode } {
    const link = { target: from };
    this.#links.push(() => {
      const target = this.#resources.resolve(reference, from.resource);
      link.target = this.node(target.schema, `${pointer}/$ref`, target.resource);
    });
    return link;
  }

  dynamicTarget(resource: Resource, name: string): SchemaNode | undefined {
    const schema = resource.dynamicAnchors.get(name);
    return schema && this.#nodes.get(schema);
  }

  pattern(source: string, pointer: string): (text: string) => boolean {
    try {
      return this.#patterns.pattern(source);
    } catch (error) {
      if (error instanceof NeedsBacktrackingError) throw error;
      throw new InvalidSchemaError(wrongAt(pointer, (error as Error).message));
    }
  }
}

/** Rules in the order of checking: the plainest come first. */
function checksOf(place: SchemaPlace): Check[] {
  const type = typeRule(place);
  const checks = [
    ...(type ? [type] : []),
    ...listedValueRules(place),
    ...numberRules(place),
    ...textRules(place),
    ...memberRules(place),
    ...propertyRules(place),
    ...arrayRules(place),
    ...dependentSchemaRules(place),
    ...logicRules(place),
  ];
  for (const last of [unseenPropertyRule(place), unseenItemRule(place)]) if (last) checks.push(last);
  return checks;
}
