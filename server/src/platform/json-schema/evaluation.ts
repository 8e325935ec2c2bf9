import { TooMuchWorkError } from './errors.js';
import type { Resource } from './resources.js';

/**
 * Schemas that one validation may apply, and names that it may match. Thirty schemas that each try the next one twice
 * are a billion steps.
 */
const MAX_STEPS = 5_000_000;
/** Violations that are kept. The first ones tell the most. */
const MAX_VIOLATIONS = 100;

/** One way in which a value does not match. `path` is a JSON pointer, empty for the value itself. */
export interface SchemaViolation {
  path: string;
  message: string;
}

/** A place in the checked value; undefined is the value itself. */
export type Place = { readonly parent: Place; readonly key: string | number } | undefined;

/** A violation whose path is not written yet: most failures are of alternatives, and are dropped. */
interface Failure {
  readonly place: Place;
  readonly message: string;
}

/** One validation of a value. */
export class Evaluation {
  readonly failures: Failure[] = [];
  /** The resources that were entered and not left yet, outermost first. */
  readonly scope: Resource[] = [];
  #steps = 0;

  /** Counts work. @throws TooMuchWorkError */
  count(steps = 1): void {
    this.#steps += steps;
    if (this.#steps > MAX_STEPS) throw new TooMuchWorkError();
  }

  /** Notes a violation. @returns false, the result of the check. */
  fail(place: Place, message: string): false {
    if (this.failures.length < MAX_VIOLATIONS) this.failures.push({ place, message });
    return false;
  }

  get violations(): SchemaViolation[] {
    return this.failures.map(({ place, message }) => ({ path: pointerTo(place), message }));
  }
}

function pointerTo(place: Place): string {
  const keys: string[] = [];
  for (let at = place; at !== undefined; at = at.parent) keys.push(String(at.key));
  return keys
    .toReversed()
    .map((key) => `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`)
    .join('');
}

/** The members and items of one value that a schema has looked at, for `unevaluatedProperties` and `unevaluatedItems`. */
export class Seen {
  #hasAllMembers = false;
  readonly #members = new Set<string>();
  /** All items before this place. */
  #itemsTo = 0;
  readonly #items = new Set<number>();

  addMember(name: string): void {
    this.#members.add(name);
  }

  addAllMembers(): void {
    this.#hasAllMembers = true;
  }

  addItem(at: number): void {
    this.#items.add(at);
  }

  addItemsTo(end: number): void {
    this.#itemsTo = Math.max(this.#itemsTo, end);
  }

  hasMember(name: string): boolean {
    return this.#hasAllMembers || this.#members.has(name);
  }

  hasItem(at: number): boolean {
    return at < this.#itemsTo || this.#items.has(at);
  }

  /** Adds all that another schema has looked at. */
  add(other: Seen, evaluation: Evaluation): void {
    evaluation.count(other.#members.size + other.#items.size);
    this.#hasAllMembers ||= other.#hasAllMembers;
    this.addItemsTo(other.#itemsTo);
    for (const name of other.#members) this.#members.add(name);
    for (const at of other.#items) this.#items.add(at);
  }
}

/** A rule for a value. It notes its violation, and is false then. */
export type Check = (value: unknown, place: Place, evaluation: Evaluation, seen: Seen | undefined) => boolean;

/** A schema that can be applied to values. */
export interface SchemaNode {
  readonly resource: Resource;
  /** In the order of checking. The first that fails ends the check. */
  readonly checks: Check[];
  /** It has to know which parts of the value its own keywords have looked at. */
  tracks: boolean;
}

/** Applies a schema to a value. */
export function applies(
  node: SchemaNode,
  value: unknown,
  place: Place,
  evaluation: Evaluation,
  seen: Seen | undefined,
): boolean {
  evaluation.count();
  const { scope } = evaluation;
  const isEntered = scope.at(-1) !== node.resource;
  if (isEntered) scope.push(node.resource);
  // A schema sees the parts that its keywords have looked at, and no others.
  const own = node.tracks ? new Seen() : seen;
  let isValid = true;
  for (const check of node.checks) {
    if (check(value, place, evaluation, own)) continue;
    isValid = false;
    break;
  }
  if (isValid && seen && own && own !== seen) seen.add(own, evaluation);
  if (isEntered) scope.pop();
  return isValid;
}
