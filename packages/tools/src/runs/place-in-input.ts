import type { Json, JsonObject } from '@agent-rental/contract';
import { plainName } from './nearest-name.js';

/** Deepest place that a message shows. */
const MAX_DEPTH = 5;

/** A place below `input`: the names of its members. An empty list is `input` itself. */
export type PlaceInInput = readonly string[];

/** The place of a listing's input that has an argument's name; undefined if none has it, or several of one depth. */
export function placeByName(input: JsonObject, name: string): PlaceInInput | undefined {
  let level: { path: PlaceInInput; schema: JsonObject }[] = [{ path: [], schema: input }];
  for (let depth = 0; depth < MAX_DEPTH && level.length > 0; depth += 1) {
    level = level.flatMap(({ path, schema }) =>
      Array.from(membersOf(schema), ([member, below]) => ({ path: [...path, member], schema: below })),
    );
    const exact = level.filter(({ path }) => path.at(-1) === name);
    const near = level.filter(({ path }) => plainName(path.at(-1) ?? '') === plainName(name));
    const [found, ...others] = exact.length > 0 ? exact : near;
    if (found !== undefined) return others.length === 0 ? found.path : undefined;
  }
  return undefined;
}

/** The one place of a listing's input that takes a value, whatever its name; undefined without exactly one. */
export function placeOfValue(input: JsonObject, name: string, value: unknown): PlaceInInput | undefined {
  const members = membersOf(input);
  const places: PlaceInInput[] = Array.from(members)
    .filter(([, schema]) => takes(schema, value))
    .map(([member]) => [member]);
  if (takes(input, value)) places.unshift([]);
  else if (members.size === 0 && optionsOf(input).some(({ type }) => type === 'object')) places.push([name]);
  return places.length === 1 ? places[0] : undefined;
}

/** The options of a published schema, without the empty object that some clients need before objects with members. */
function optionsOf(schema: JsonObject): JsonObject[] {
  const { anyOf } = schema;
  if (!Array.isArray(anyOf)) return [schema];
  const options = (anyOf as JsonObject[]).flatMap(optionsOf);
  const isDescribed = options.some(hasMembers);
  return options.filter((option) => !isDescribed || option['type'] !== 'object' || hasMembers(option));
}

function hasMembers({ properties }: JsonObject): boolean {
  return properties !== undefined;
}

function membersOf(schema: JsonObject): Map<string, JsonObject> {
  const properties = optionsOf(schema).map((option) => option['properties'] as Record<string, JsonObject>);
  return new Map(properties.flatMap((each) => Object.entries(each ?? {})));
}

function takes(schema: JsonObject, value: unknown): boolean {
  return optionsOf(schema).some(({ type, enum: values, properties }) => {
    if (Array.isArray(values) && !values.includes(value as Json)) return false;
    if (type === 'integer') return Number.isInteger(value);
    if (type === 'array') return Array.isArray(value);
    if (type !== 'object') return typeof value === type;
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
    return (
      properties === undefined || Object.keys(value).every((key) => Object.hasOwn(properties as object, key))
    );
  });
}
