import {
  dialectOf,
  hasKeyword,
  isObject,
  isReplacedByReference,
  schemasIn,
  DRAFT,
  type Dialect,
} from './dialect.js';
import { InvalidSchemaError } from './errors.js';

/** Where a schema without an `$id` is, for references that are relative. */
const NOWHERE = 'https://schema.invalid/schema';

/** A schema with an address, and the schemas in it up to the next one that has an address. */
export interface Resource {
  readonly uri: string;
  readonly root: object;
  readonly dialect: Dialect;
  readonly anchors: Map<string, object>;
  /** Anchors that a schema outside may replace (`$dynamicAnchor`); `$recursiveAnchor` has the name ''. */
  readonly dynamicAnchors: Map<string, object>;
}

/** The place that a reference leads to. */
export interface Target {
  readonly schema: unknown;
  readonly resource: Resource;
}

/** The addresses in one document, which is all that its references may lead to. */
export class Resources {
  /** The resource around the document. */
  readonly top: Resource;
  readonly #byUri = new Map<string, Resource>();
  readonly #homes = new Map<object, Resource>();

  /** @throws InvalidSchemaError for an address or anchor of a wrong form. */
  constructor(root: Record<string, unknown>) {
    this.top = newResource(NOWHERE, root, dialectOf(root['$schema']));
    this.#byUri.set(NOWHERE, this.top);
    this.#index(root, this.top);
  }

  /** The resource that a schema of the document belongs to; undefined where no keyword leads to it. */
  homeOf(schema: object): Resource | undefined {
    return this.#homes.get(schema);
  }

  /** @throws InvalidSchemaError when a reference leads out of the document, or nowhere. */
  resolve(reference: string, from: Resource): Target {
    const address = urlOf(reference, from.uri);
    const fragment = decoded(address.hash.slice(1));
    address.hash = '';
    const resource = this.#byUri.get(address.href);
    if (resource === undefined) {
      throw new InvalidSchemaError(
        `refers to another document (${quoted(reference)}); only references inside the schema are allowed`,
      );
    }
    const target =
      fragment === '' || fragment.startsWith('/')
        ? this.#follow(fragment, resource)
        : { schema: resource.anchors.get(fragment), resource };
    if (target.schema === undefined) {
      throw new InvalidSchemaError(`refers to ${quoted(reference)}, which it does not have`);
    }
    return target;
  }

  #follow(pointer: string, resource: Resource): Target {
    let schema: unknown = resource.root;
    let home = resource;
    for (const step of pointer.split('/').slice(1)) {
      const key = step.replaceAll('~1', '/').replaceAll('~0', '~');
      if (typeof schema !== 'object' || schema === null || !Object.hasOwn(schema, key)) {
        return { schema: undefined, resource };
      }
      schema = (schema as Record<string, unknown>)[key];
      if (typeof schema === 'object' && schema !== null) home = this.#homes.get(schema) ?? home;
    }
    return { schema, resource: home };
  }

  #index(schema: Record<string, unknown>, outer: Resource): void {
    const resource = this.#resourceOf(schema, outer);
    this.#homes.set(schema, resource);
    const { dialect, anchors, dynamicAnchors } = resource;
    for (const keyword of ['$anchor', '$dynamicAnchor']) {
      const name = hasKeyword(dialect, keyword) ? schema[keyword] : undefined;
      if (typeof name !== 'string') continue;
      anchors.set(name, schema);
      if (keyword === '$dynamicAnchor') dynamicAnchors.set(name, schema);
    }
    if (hasKeyword(dialect, '$recursiveAnchor') && schema['$recursiveAnchor'] === true) {
      dynamicAnchors.set('', schema);
    }
    for (const inner of schemasIn(schema)) if (isObject(inner)) this.#index(inner, resource);
  }

  /** The resource that begins with a schema, or the one around it. */
  #resourceOf(schema: Record<string, unknown>, outer: Resource): Resource {
    const id = schema[outer.dialect.age === DRAFT.four ? 'id' : '$id'];
    if (typeof id !== 'string' || isReplacedByReference(outer.dialect, schema)) return outer;
    const address = urlOf(id, outer.uri);
    const fragment = decoded(address.hash.slice(1));
    address.hash = '';
    // Up to draft-07, an id may name a place in the resource around it.
    if (fragment !== '') outer.anchors.set(fragment, schema);
    if (id === '' || id.startsWith('#')) return outer;
    const dialect = typeof schema['$schema'] === 'string' ? dialectOf(schema['$schema']) : outer.dialect;
    const resource = newResource(address.href, schema, dialect);
    if (this.#byUri.has(resource.uri)) {
      throw new InvalidSchemaError(`has two schemas with the address ${quoted(id)}`);
    }
    this.#byUri.set(resource.uri, resource);
    return resource;
  }
}

function newResource(uri: string, root: object, dialect: Dialect): Resource {
  return { uri, root, dialect, anchors: new Map(), dynamicAnchors: new Map() };
}

function urlOf(reference: string, base: string): URL {
  try {
    return new URL(reference, base);
  } catch {
    throw new InvalidSchemaError(`has the address ${quoted(reference)}, which is not a URI reference`);
  }
}

function decoded(fragment: string): string {
  try {
    return decodeURIComponent(fragment);
  } catch {
    return fragment;
  }
}

function quoted(text: string): string {
  return JSON.stringify(text.slice(0, 100));
}
