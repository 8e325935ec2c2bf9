import { schemaViolations } from './compile.js';
import type { Engine } from './text-pattern.js';

/** Each round of check and removal finds one null. */
const MAX_ROUNDS = 100;
/** A thread that checks longer is ended, and its schema with it, for other callers too. */
const MAX_MS = 500;

/**
 * Removes the null members of objects that break a schema, at every depth: frameworks send null for an optional argument
 * that the model left out. A null that the schema takes stays.
 *
 * @returns a value that matches; undefined when removing null members does not make it match.
 * @throws InvalidSchemaError when the schema cannot be used.
 * @throws NeedsBacktrackingError when the engine does not match one of its patterns.
 */
export function withoutAbsentNulls(schema: object, value: unknown, engine: Engine = 'any'): unknown {
  const deadline = performance.now() + MAX_MS;
  let current = value;
  for (let round = 0; round < MAX_ROUNDS && performance.now() < deadline; round += 1) {
    const violations = schemaViolations(schema, current, engine);
    if (violations.length === 0) return current;
    const paths = violations.map(({ path }) => partsOf(path));
    // A null that is named by a violation goes first. A violation of a whole object, as by `anyOf`, may be due to any below it.
    const next =
      firstDefined(paths, (path) => withoutNamedNull(current, path)) ??
      firstDefined(paths, (path) => withoutNullsBelow(current, path));
    if (next === undefined) return undefined;
    current = next;
  }
  return undefined;
}

function firstDefined<T, R>(items: readonly T[], map: (item: T) => R | undefined): R | undefined {
  for (const item of items) {
    const mapped = map(item);
    if (mapped !== undefined) return mapped;
  }
  return undefined;
}

/** Reads a JSON pointer (RFC 6901). */
function partsOf(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** Without the member at a path, when that member is null. */
function withoutNamedNull(value: unknown, [part, ...rest]: readonly string[]): unknown {
  if (part === undefined || !isContainer(value) || !Object.hasOwn(value, part)) return undefined;
  const member = value[part];
  if (rest.length > 0) {
    const changed = withoutNamedNull(member, rest);
    return changed === undefined ? undefined : withMember(value, part, changed);
  }
  // An array keeps a null item, because removing it would move the others.
  return member === null && !Array.isArray(value) ? withoutMember(value, part) : undefined;
}

/** Without all null members of the objects at and below a path; undefined when there are none. */
function withoutNullsBelow(value: unknown, [part, ...rest]: readonly string[]): unknown {
  if (!isContainer(value)) return undefined;
  if (part !== undefined) {
    if (!Object.hasOwn(value, part)) return undefined;
    const changed = withoutNullsBelow(value[part], rest);
    return changed === undefined ? undefined : withMember(value, part, changed);
  }
  let isChanged = false;
  const entries: [string, unknown][] = [];
  for (const [key, member] of Object.entries(value)) {
    if (member === null && !Array.isArray(value)) {
      isChanged = true;
      continue;
    }
    const changed = withoutNullsBelow(member, []);
    isChanged ||= changed !== undefined;
    entries.push([key, changed ?? member]);
  }
  if (!isChanged) return undefined;
  return Array.isArray(value) ? entries.map(([, member]) => member) : Object.fromEntries(entries);
}

type Container = Record<string, unknown>;

/** Arrays too: their items are found by their index. */
function isContainer(value: unknown): value is Container {
  return typeof value === 'object' && value !== null;
}

function withMember(value: Container, key: string, member: unknown): unknown {
  const copy = Array.isArray(value) ? ([...value] as unknown as Container) : copyOf(value);
  Object.defineProperty(copy, key, { value: member, enumerable: true, configurable: true, writable: true });
  return copy;
}

function withoutMember(value: Container, key: string): unknown {
  const copy = copyOf(value);
  delete copy[key];
  return copy;
}

/** Keeps a member named `__proto__` an ordinary one. */
function copyOf(value: Container): Container {
  return Object.fromEntries(Object.entries(value));
}
