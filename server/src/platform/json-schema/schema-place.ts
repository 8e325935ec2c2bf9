import { hasKeyword, isObject, type Dialect } from './dialect.js';
import { InvalidSchemaError } from './errors.js';
import type { SchemaNode } from './evaluation.js';

/** Makes the parts that the rules of a schema consist of. */
export interface PartMaker {
  /** @throws InvalidSchemaError */
  node(schema: unknown, pointer: string, outer: SchemaNode['resource']): SchemaNode;
  /** The schema that a reference leads to, once all schemas are made. */
  link(reference: string, from: SchemaNode, pointer: string): { target: SchemaNode };
  /** The schemas with the name in the resources that a validation has entered; '' is `$recursiveAnchor`. */
  dynamicTarget(from: SchemaNode['resource'], name: string): SchemaNode | undefined;
  /** @throws InvalidSchemaError */
  pattern(source: string, pointer: string): (text: string) => boolean;
}

/** One schema of a document, read keyword by keyword. Each reading refuses a value of a wrong form. */
export class SchemaPlace {
  readonly schema: Readonly<Record<string, unknown>>;
  readonly self: SchemaNode;
  readonly pointer: string;
  readonly maker: PartMaker;

  constructor(
    schema: Readonly<Record<string, unknown>>,
    { self, pointer, maker }: { self: SchemaNode; pointer: string; maker: PartMaker },
  ) {
    this.schema = schema;
    this.self = self;
    this.pointer = pointer;
    this.maker = maker;
  }

  get dialect(): Dialect {
    return this.self.resource.dialect;
  }

  /** A keyword's value; undefined where the draft gives the keyword no meaning. */
  get(keyword: string): unknown {
    if (!Object.hasOwn(this.schema, keyword) || !hasKeyword(this.dialect, keyword)) return undefined;
    return this.schema[keyword];
  }

  /** @throws InvalidSchemaError always. */
  wrong(keyword: string, says: string): never {
    throw new InvalidSchemaError(wrongAt(this.pointer, `"${keyword}" ${says}`));
  }

  number(keyword: string): number | undefined {
    const value = this.get(keyword);
    if (value === undefined || typeof value === 'number') return value;
    return this.wrong(keyword, 'must be a number');
  }

  /** A number of characters, items or members. */
  count(keyword: string): number | undefined {
    const value = this.number(keyword);
    if (value !== undefined && (!Number.isInteger(value) || value < 0)) {
      this.wrong(keyword, 'must be a whole number from 0 on');
    }
    return value;
  }

  text(keyword: string): string | undefined {
    const value = this.get(keyword);
    if (value === undefined || typeof value === 'string') return value;
    return this.wrong(keyword, 'must be a string');
  }

  list(keyword: string): readonly unknown[] | undefined {
    const value = this.get(keyword);
    if (value === undefined || Array.isArray(value)) return value;
    return this.wrong(keyword, 'must be a list');
  }

  names(keyword: string): readonly string[] | undefined {
    const value = this.get(keyword);
    return value === undefined ? undefined : namesIn(value, () => this.wrong(keyword, NAMES));
  }

  map(keyword: string): readonly [string, unknown][] | undefined {
    const value = this.get(keyword);
    if (value === undefined) return undefined;
    return isObject(value) ? Object.entries(value) : this.wrong(keyword, 'must be an object');
  }

  /** A schema directly inside this one. */
  inner(schema: unknown, path: string): SchemaNode {
    return this.maker.node(schema, `${this.pointer}/${path}`, this.self.resource);
  }

  node(keyword: string): SchemaNode | undefined {
    const value = this.get(keyword);
    return value === undefined ? undefined : this.inner(value, keyword);
  }

  nodes(keyword: string): readonly SchemaNode[] | undefined {
    const value = this.get(keyword);
    if (value === undefined) return undefined;
    if (!Array.isArray(value) || value.length === 0)
      this.wrong(keyword, 'must be a list of at least one schema');
    return (value as unknown[]).map((inner, at) => this.inner(inner, `${keyword}/${at}`));
  }

  nodeMap(keyword: string): ReadonlyMap<string, SchemaNode> | undefined {
    const entries = this.map(keyword);
    return (
      entries && new Map(entries.map(([name, inner]) => [name, this.inner(inner, `${keyword}/${name}`)]))
    );
  }
}

/** The form of a list of names, in words. */
export const NAMES = 'must be a list of different strings';

/** @returns a list of different strings, or the result of `refuse`. */
export function namesIn(value: unknown, refuse: () => never): readonly string[] {
  const isNames =
    Array.isArray(value) &&
    value.every((name) => typeof name === 'string') &&
    new Set(value).size === value.length;
  return isNames ? value : refuse();
}

/** A fault with the place of its schema in the document. */
export function wrongAt(pointer: string, says: string): string {
  return `is not a usable JSON Schema: ${says}${pointer === '' ? '' : `, at ${pointer.slice(0, 200)}`}`;
}
