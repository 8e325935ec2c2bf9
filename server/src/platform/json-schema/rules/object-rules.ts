import { isObject } from '../dialect.js';
import { applies, type Check, type Evaluation, type Place, type SchemaNode } from '../evaluation.js';
import { NAMES, namesIn, type SchemaPlace } from '../schema-place.js';

const ADDITIONAL = 'is an additional property, which the schema does not allow';

type ObjectCheck = (value: Record<string, unknown>, at: Place, evaluation: Evaluation) => boolean;

/** Rules of objects that look at no member's value: how many, and which. */
export function memberRules(place: SchemaPlace): readonly Check[] {
  const checks: Check[] = [];
  const add = (check: ObjectCheck) =>
    checks.push((value, at, evaluation) => !isObject(value) || check(value, at, evaluation));
  const least = place.count('minProperties');
  const most = place.count('maxProperties');
  if (most !== undefined) {
    add(
      (value, at, evaluation) =>
        Object.keys(value).length <= most ||
        evaluation.fail(at, `must NOT have more than ${most} properties`),
    );
  }
  if (least !== undefined) {
    add(
      (value, at, evaluation) =>
        Object.keys(value).length >= least ||
        evaluation.fail(at, `must NOT have fewer than ${least} properties`),
    );
  }
  const required = place.names('required');
  if (required) {
    add((value, at, evaluation) =>
      required.every(
        (name) => Object.hasOwn(value, name) || evaluation.fail(at, `must have required property '${name}'`),
      ),
    );
  }
  for (const [name, needed] of neededBeside(place)) {
    add(
      (value, at, evaluation) =>
        !Object.hasOwn(value, name) ||
        needed.every(
          (other) =>
            Object.hasOwn(value, other) ||
            evaluation.fail(at, `must have property ${other} when property ${name} is present`),
        ),
    );
  }
  return checks;
}

/** The names that each name needs beside it. */
function neededBeside(place: SchemaPlace): [string, readonly string[]][] {
  const all = (place.map('dependentRequired') ?? []).map(([name, needed]): [string, readonly string[]] => [
    name,
    namesIn(needed, () => place.wrong('dependentRequired', `${NAMES} for each name`)),
  ]);
  for (const [name, needed] of place.map('dependencies') ?? []) {
    if (Array.isArray(needed))
      all.push([
        name,
        namesIn(needed, () => place.wrong('dependencies', `${NAMES} or a schema for each name`)),
      ]);
  }
  return all;
}

/** Rules for the names and values of members. */
export function propertyRules(place: SchemaPlace): readonly Check[] {
  const checks: Check[] = [];
  const names = place.node('propertyNames');
  if (names) {
    checks.push(
      (value, at, evaluation) =>
        !isObject(value) ||
        Object.keys(value).every(
          (name) =>
            applies(names, name, at, evaluation, undefined) ||
            evaluation.fail(at, 'property name must be valid'),
        ),
    );
  }
  const properties = place.nodeMap('properties');
  const patterns = [...(place.nodeMap('patternProperties') ?? [])].map(([source, node]) => ({
    isMatch: place.maker.pattern(source, `${place.pointer}/patternProperties`),
    node,
  }));
  const additional = place.node('additionalProperties');
  const isForbidden = place.get('additionalProperties') === false;
  if (!properties && patterns.length === 0 && !additional) return checks;
  checks.push((value, at, evaluation, seen) => {
    if (!isObject(value)) return true;
    for (const [name, member] of Object.entries(value)) {
      const inner = { parent: at, key: name };
      const property = properties?.get(name);
      let isKnown = property !== undefined;
      if (property && !applies(property, member, inner, evaluation, undefined)) return false;
      for (const { isMatch, node } of patterns) {
        evaluation.count();
        if (!isMatch(name)) continue;
        isKnown = true;
        if (!applies(node, member, inner, evaluation, undefined)) return false;
      }
      if (!isKnown && isForbidden) return evaluation.fail(inner, ADDITIONAL);
      if (!isKnown && additional && !applies(additional, member, inner, evaluation, undefined)) return false;
      if (isKnown || additional) seen?.addMember(name);
    }
    return true;
  });
  return checks;
}

/** Schemas for the whole object that holds a name. */
export function dependentSchemaRules(place: SchemaPlace): readonly Check[] {
  const dependent: [string, SchemaNode][] = [...(place.nodeMap('dependentSchemas') ?? [])];
  for (const [name, schema] of place.map('dependencies') ?? []) {
    if (!Array.isArray(schema)) dependent.push([name, place.inner(schema, `dependencies/${name}`)]);
  }
  return dependent.map(
    ([name, node]): Check =>
      (value, at, evaluation, seen) =>
        !isObject(value) || !Object.hasOwn(value, name) || applies(node, value, at, evaluation, seen),
  );
}

/** `unevaluatedProperties`: after all other rules. */
export function unseenPropertyRule(place: SchemaPlace): Check | undefined {
  const node = place.node('unevaluatedProperties');
  if (!node) return undefined;
  const isForbidden = place.get('unevaluatedProperties') === false;
  return (value, at, evaluation, seen) => {
    if (!isObject(value)) return true;
    for (const [name, member] of Object.entries(value)) {
      if (seen?.hasMember(name)) continue;
      const inner = { parent: at, key: name };
      if (isForbidden) return evaluation.fail(inner, ADDITIONAL);
      if (!applies(node, member, inner, evaluation, undefined)) return false;
    }
    seen?.addAllMembers();
    return true;
  };
}
