import type { Json, JsonSchema } from '@agent-rental/contract';
import { creatorLine, quoteCreator } from '../../text/creator-text.js';

/** A valid JSON input, or none. */
export type GivenInput = Json | undefined;

/**
 * Checks an input against the outermost layer of an agent's schema. Returns the fault, or `undefined`. The check comes before
 * the rental, because a rental is final. The service checks the whole schema before it charges a run.
 */
export function misfitOf(schema: JsonSchema, input: GivenInput): string | undefined {
  const required = namesIn(schema['required']);
  if (input === undefined) {
    // An agent that takes text may need only the task.
    return required.length > 0 ? `its input needs ${listed(required)}` : undefined;
  }
  const types = [schema['type']].flat().filter((type) => typeof type === 'string');
  if (types.length > 0 && !types.includes(typeOf(input))) {
    return `its input is of type ${creatorLine(types.join(' or '), 60)}`;
  }
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return undefined;
  const missing = required.filter((name) => !Object.hasOwn(input, name));
  if (missing.length > 0) return `its input needs ${listed(missing)}`;
  const { properties } = schema;
  if (schema['additionalProperties'] !== false || !isObject(properties)) return undefined;
  const unknown = Object.keys(input).filter((name) => !Object.hasOwn(properties, name));
  return unknown.length > 0 ? `its input has no ${listed(unknown)}` : undefined;
}

function namesIn(value: Json | undefined): string[] {
  return Array.isArray(value) ? value.filter((name) => typeof name === 'string') : [];
}

function listed(names: readonly string[]): string {
  return names
    .slice(0, 10)
    .map((name) => quoteCreator(name, 60))
    .join(', ');
}

function typeOf(value: Json): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

function isObject(value: Json | undefined): value is { [key: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
