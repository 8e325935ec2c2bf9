import type { JsonObject } from '@agent-rental/contract';
import type { RentedTool } from '../definitions/rented-tool.js';
import { BadArgumentsError, kindOf } from './run-arguments.js';
import { creatorLine } from '../text/creator-text.js';
import { nearestName } from './nearest-name.js';
import { placeByName, placeOfValue, type PlaceInInput } from './place-in-input.js';

/** Arguments that hosts add to every tool call, for instance n8n's tools agent. No model wrote them. */
const ADDED_BY_HOSTS: ReadonlySet<string> = new Set([
  'toolCallId',
  'tool_call_id',
  'tool',
  'sessionId',
  'action',
  'chatInput',
]);

/** An argument of the tools that run an agent, beside their schemas. Some adapters publish it. */
const NEW_RUN = 'new_run';

type Properties = Readonly<Record<string, JsonObject>>;

/** The parts of a tool by which its arguments are checked. */
type CheckedTool = Pick<RentedTool, 'name' | 'agentId' | 'inputSchema'>;

/**
 * Checks the arguments of a tool before it runs or asks for an approval. It accepts a number or a flag as text, and null for
 * an absent argument. The tool itself checks for missing arguments.
 *
 * @throws BadArgumentsError for an unknown member, with its most likely place. In a tool that needs no rental, also for a value
 *   of a wrong type or outside the member's list.
 */
export function checkArguments(tool: CheckedTool, args: Record<string, unknown>): void {
  const properties = tool.inputSchema['properties'] as Properties;
  for (const [member, value] of Object.entries(args)) {
    if (value === undefined || value === null) continue;
    const property = Object.hasOwn(properties, member) ? properties[member] : undefined;
    // A direct tool runs its agent with any `agent_id`, and checks its other arguments itself.
    if (property !== undefined) {
      if (tool.agentId === undefined) checkValue(member, value, property);
    } else if (!(member === NEW_RUN && runsAgent(tool)) && !isOfHost(tool, member, args))
      throw new BadArgumentsError(unknownMember(tool, member, args));
  }
}

function runsAgent({ name, agentId }: CheckedTool): boolean {
  return agentId !== undefined || name === 'run_agent' || name === 'hire';
}

/** A host adds several arguments. One that comes alone and has a place in the agent's input was written by a model. */
function isOfHost(tool: CheckedTool, member: string, args: Record<string, unknown>): boolean {
  if (!ADDED_BY_HOSTS.has(member)) return false;
  const input = inputOf(tool);
  if (input === undefined || placeByName(input, member)?.length !== 1) return true;
  return Object.keys(args).some((other) => other !== member && ADDED_BY_HOSTS.has(other));
}

/** The schema of the agent's input in a direct tool. */
function inputOf({ agentId, inputSchema }: CheckedTool): JsonObject | undefined {
  return agentId === undefined ? undefined : (inputSchema['properties'] as Properties)['input'];
}

function unknownMember(tool: CheckedTool, member: string, args: Record<string, unknown>): string {
  const known = Object.keys(tool.inputSchema['properties'] as Properties);
  const input = inputOf(tool);
  const taken = runsAgent(tool) ? [...known, NEW_RUN] : known;
  const free = taken.filter((each) => args[each] === undefined || args[each] === null);
  const nearest = nearestName(member, free);
  let hint = '';
  const named = input && placeByName(input, member);
  if (named !== undefined) hint = ` It belongs into "input": ${shown(named)}.`;
  else if (nearest !== undefined) hint = ` Did you mean "${nearest}"?`;
  else if (input !== undefined) {
    const place = placeOfValue(input, member, args[member]);
    if (place !== undefined) hint = ` Its value fits one place: ${shown(place)}.`;
  }
  return `"${creatorLine(member, 60)}" is no argument of ${tool.name}.${hint} It takes ${known.join(', ')}.`;
}

/** A place as JSON, as a model writes it. */
function shown(place: PlaceInInput): string {
  return ['input', ...place].reduceRight(
    (inner, name) => `{${JSON.stringify(creatorLine(name, 60))}: ${inner}}`,
    '...',
  );
}

function checkValue(member: string, value: unknown, property: { type?: unknown; enum?: unknown }): void {
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
