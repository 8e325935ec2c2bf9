import { applies, Seen, type Check, type SchemaNode } from '../evaluation.js';
import type { SchemaPlace } from '../schema-place.js';

/** `$ref` and its kin. */
export function referenceRules(place: SchemaPlace): readonly Check[] {
  const checks: Check[] = [];
  const reference = place.text('$ref');
  if (reference !== undefined) {
    const link = place.maker.link(reference, place.self, place.pointer);
    checks.push((value, at, evaluation, seen) => applies(link.target, value, at, evaluation, seen));
  }
  for (const keyword of ['$dynamicRef', '$recursiveRef'] as const) {
    const dynamic = place.text(keyword);
    if (dynamic === undefined) continue;
    const { maker } = place;
    const link = maker.link(dynamic, place.self, place.pointer);
    const name = dynamic.split('#')[1] ?? '';
    checks.push((value, at, evaluation, seen) => {
      const { target } = link;
      const isDynamic = maker.dynamicTarget(target.resource, name) === target;
      const outermost = isDynamic
        ? evaluation.scope.find((resource) => maker.dynamicTarget(resource, name) !== undefined)
        : undefined;
      const found = outermost && maker.dynamicTarget(outermost, name);
      return applies(found ?? target, value, at, evaluation, seen);
    });
  }
  return checks;
}

/** `allOf`, `anyOf`, `oneOf`, `not`, and `if` with `then` and `else`. */
export function logicRules(place: SchemaPlace): readonly Check[] {
  const checks: Check[] = [];
  const all = place.nodes('allOf');
  if (all)
    checks.push((value, at, evaluation, seen) =>
      all.every((node) => applies(node, value, at, evaluation, seen)),
    );
  for (const keyword of ['anyOf', 'oneOf'] as const) {
    const nodes = place.nodes(keyword);
    if (nodes) checks.push(someOf(nodes, keyword === 'oneOf'));
  }
  const not = place.node('not');
  if (not) {
    checks.push((value, at, evaluation) => {
      const { length } = evaluation.failures;
      const isMatch = applies(not, value, at, evaluation, undefined);
      evaluation.failures.length = length;
      return !isMatch || evaluation.fail(at, 'must NOT be valid');
    });
  }
  const condition = place.node('if');
  const then = place.node('then');
  const otherwise = place.node('else');
  if (condition) checks.push(conditional(condition, then, otherwise));
  return checks;
}

function someOf(nodes: readonly SchemaNode[], isOne: boolean): Check {
  const message = isOne ? 'must match exactly one schema in oneOf' : 'must match a schema in anyOf';
  return (value, at, evaluation, seen) => {
    const { length } = evaluation.failures;
    let matches = 0;
    for (const node of nodes) {
      const own = seen && new Seen();
      if (!applies(node, value, at, evaluation, own)) continue;
      matches += 1;
      if (own) seen?.add(own, evaluation);
      // The answer is known. All parts that any of several schemas looked at count as seen.
      if (isOne ? matches > 1 : !seen) break;
    }
    if (matches === 0 || (isOne && matches > 1)) {
      if (matches > 1) evaluation.failures.length = length;
      return evaluation.fail(at, message);
    }
    evaluation.failures.length = length;
    return true;
  };
}

function conditional(
  condition: SchemaNode,
  then: SchemaNode | undefined,
  otherwise: SchemaNode | undefined,
): Check {
  return (value, at, evaluation, seen) => {
    const { length } = evaluation.failures;
    const own = seen && new Seen();
    const isMatch = applies(condition, value, at, evaluation, own);
    evaluation.failures.length = length;
    if (isMatch && own) seen?.add(own, evaluation);
    const next = isMatch ? then : otherwise;
    if (!next || applies(next, value, at, evaluation, seen)) return true;
    return evaluation.fail(at, `must match "${isMatch ? 'then' : 'else'}" schema`);
  };
}
