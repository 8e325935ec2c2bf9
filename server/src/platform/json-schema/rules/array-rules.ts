import { canonicalJson } from '@agent-rental/contract/canonical-json';
import { DRAFT } from '../dialect.js';
import {
  applies,
  type Check,
  type Evaluation,
  type Place,
  type Seen,
  type SchemaNode,
} from '../evaluation.js';
import type { SchemaPlace } from '../schema-place.js';

type ListCheck = (
  list: readonly unknown[],
  at: Place,
  evaluation: Evaluation,
  seen: Seen | undefined,
) => boolean;

/** Rules of lists. */
export function arrayRules(place: SchemaPlace): readonly Check[] {
  const checks: Check[] = [];
  const add = (check: ListCheck) =>
    checks.push((value, at, evaluation, seen) => !Array.isArray(value) || check(value, at, evaluation, seen));
  const least = place.count('minItems');
  const most = place.count('maxItems');
  if (most !== undefined) {
    add(
      (list, at, evaluation) =>
        list.length <= most || evaluation.fail(at, `must NOT have more than ${most} items`),
    );
  }
  if (least !== undefined) {
    add(
      (list, at, evaluation) =>
        list.length >= least || evaluation.fail(at, `must NOT have fewer than ${least} items`),
    );
  }
  const unique = place.get('uniqueItems');
  if (unique !== undefined && typeof unique !== 'boolean')
    place.wrong('uniqueItems', 'must be true or false');
  if (unique === true) {
    add(
      (list, at, evaluation) =>
        new Set(list.map((item) => canonicalJson(item))).size === list.length ||
        evaluation.fail(at, 'must not have duplicate items'),
    );
  }
  const { first, rest } = itemSchemas(place);
  if (first.length > 0 || rest)
    add((list, at, evaluation, seen) => {
      for (const [index, item] of list.entries()) {
        const node = first[index] ?? rest;
        if (!node) break;
        if (!applies(node, item, { parent: at, key: index }, evaluation, undefined)) return false;
      }
      seen?.addItemsTo(rest ? list.length : Math.min(first.length, list.length));
      return true;
    });
  const contained = containsCheck(place);
  if (contained) add(contained);
  return checks;
}

/** The schemas of the first items, and of the rest. Older drafts have a tuple as a list under `items`. */
function itemSchemas(place: SchemaPlace): { first: readonly SchemaNode[]; rest: SchemaNode | undefined } {
  const { age, isUnnamed } = place.dialect;
  const given = place.get('items');
  if (Array.isArray(given)) {
    if (age >= DRAFT.y2020 && !isUnnamed) {
      place.wrong('items', 'must be one schema in draft 2020-12; a list of schemas is "prefixItems"');
    }
    // Older drafts take an empty list, too.
    const first = given.length === 0 ? [] : (place.nodes('items') ?? []);
    return { first, rest: place.node('additionalItems') };
  }
  return { first: place.nodes('prefixItems') ?? [], rest: place.node('items') };
}

function containsCheck(place: SchemaPlace): ListCheck | undefined {
  const node = place.node('contains');
  const least = place.count('minContains') ?? 1;
  const most = place.count('maxContains') ?? Infinity;
  if (!node) return undefined;
  const marksSeen = place.dialect.age >= DRAFT.y2020;
  const message = `must contain at least ${least}${most === Infinity ? '' : ` and no more than ${most}`} valid item(s)`;
  return (list, at, evaluation, seen) => {
    const { length } = evaluation.failures;
    let found = 0;
    for (const [index, item] of list.entries()) {
      if (!applies(node, item, { parent: at, key: index }, evaluation, undefined)) continue;
      found += 1;
      if (marksSeen) seen?.addItem(index);
      // The answer is known.
      if (found > most || (found >= least && most === Infinity && !seen)) break;
    }
    if (found < least || found > most) return evaluation.fail(at, message);
    evaluation.failures.length = length;
    return true;
  };
}

/** `unevaluatedItems`: after all other rules. */
export function unseenItemRule(place: SchemaPlace): Check | undefined {
  const node = place.node('unevaluatedItems');
  if (!node) return undefined;
  return (value, at, evaluation, seen) => {
    if (!Array.isArray(value)) return true;
    for (const [index, item] of value.entries()) {
      if (seen?.hasItem(index)) continue;
      if (!applies(node, item, { parent: at, key: index }, evaluation, undefined)) return false;
    }
    seen?.addItemsTo(value.length);
    return true;
  };
}
