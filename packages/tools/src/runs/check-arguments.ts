import type { AlwaysThereToolName, JsonObject } from '@agent-rental/contract';
import { BadArgumentsError, kindOf } from './run-arguments.js';
import { creatorLine } from '../text/creator-text.js';
import { nearestName } from './nearest-name.js';

/** Arguments that hosts add to every tool call, for instance n8n's tools agent. No model wrote them. */
const ADDED_BY_HOSTS: ReadonlySet<string> = new Set([
  'toolCallId',
  'tool',
  'sessionId',
  'action',
  'chatInput',
]);

/** Arguments of tools beside their schemas. Some adapters publish them. */
const ALSO_TAKEN: Partial<Record<AlwaysThereToolName, readonly string[]>> = {
  run_agent: ['new_run'],
  hire: ['new_run'],
};

type Property = { readonly type?: unknown; readonly enum?: unknown };

/**
 * Checks arguments against the schema of a tool that needs no rental. It accepts a number or a flag as text, and null for an
 * absent argument. The tool itself checks for missing arguments.
 *
 * @throws BadArgumentsError for an unknown member (with the most likely name), a value of a wrong type (with its type), or a
 *   value outside the member's list.
 */
export function checkArguments(
  { name, inputSchema }: { readonly name: AlwaysThereToolName; readonly inputSchema: JsonObject },
  args: Record<string, unknown>,
): void {
  const properties = inputSchema['properties'] as Readonly<Record<string, Property>>;
  for (const [member, value] of Object.entries(args)) {
    if (value === undefined || value === null) continue;
    const property = Object.hasOwn(properties, member) ? properties[member] : undefined;
    if (property !== undefined) checkValue(member, value, property);
    else if (!ADDED_BY_HOSTS.has(member) && ALSO_TAKEN[name]?.includes(member) !== true)
      throw new BadArgumentsError(unknownMember(name, member, args, Object.keys(properties)));
  }
}

function unknownMember(
  tool: string,
  member: string,
  args: Record<string, unknown>,
  known: readonly string[],
): string {
  const free = known.filter((each) => args[each] === undefined || args[each] === null);
  const nearest = nearestName(member, free);
  const meant = nearest === undefined ? '' : ` Did you mean "${nearest}"?`;
  return `"${creatorLine(member, 60)}" is no argument of ${tool}.${meant} It takes ${known.join(', ')}.`;
}

function checkValue(member: string, value: unknown, property: Property): void {
  const { type, enum: values } = property;
  if (type === 'string' && typeof value !== 'string') wrong(member, value, 'a text');
  if ((type === 'number' || type === 'integer') && !isNumber(value)) wrong(member, value, 'a number');
  if (type === 'boolean' && !isFlag(value)) wrong(member, value, 'true or false');
  if (Array.isArray(values) && value !== '' && !values.includes(value)) {
    wrong(member, value, `one of ${values.join(', ')}`);
  }
}

function wrong(member: string, value: unknown, wanted: string): never {
  throw new BadArgumentsError(`"${member}" is ${kindOf(value)}: it must be ${wanted}.`);
}

function isNumber(value: unknown): boolean {
  return typeof value === 'number' || (typeof value === 'string' && Number.isFinite(Number(value)));
}

function isFlag(value: unknown): boolean {
  return typeof value === 'boolean' || value === 'true' || value === 'false' || value === '';
}

/**
 * Checks that the agent's members are inside `input`. Beside `input` they would be ignored, in a paid run.
 *
 * @throws BadArgumentsError
 */
export function checkPlaces(
  { inputSchema }: { readonly inputSchema: JsonObject },
  args: Record<string, unknown>,
): void {
  const properties = inputSchema['properties'] as Readonly<Record<string, JsonObject>>;
  const ofInput = properties['input']?.['properties'];
  if (typeof ofInput !== 'object' || ofInput === null) return;
  const misplaced = Object.keys(args).find(
    (member) => !Object.hasOwn(properties, member) && Object.hasOwn(ofInput, member),
  );
  if (misplaced === undefined || ADDED_BY_HOSTS.has(misplaced)) return;
  const name = creatorLine(misplaced, 60);
  throw new BadArgumentsError(`"${name}" belongs into "input": {"input": {"${name}": ...}}.`);
}
