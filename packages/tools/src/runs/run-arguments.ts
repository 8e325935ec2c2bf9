import {
  checkJson,
  JsonTextError,
  readJson,
  type ExecuteBody,
  type Json,
  type JsonObject,
} from '@agent-rental/contract';
import type { ToolCallOptions } from '../definitions/rented-tool.js';
import { creatorLine } from '../text/creator-text.js';

/** The task of a run. */
export interface RunTask {
  readonly agentId: string;
  readonly task: string;
  readonly input?: Exclude<ExecuteBody['input'], undefined>;
  /** Address of an uploaded file, in place of `input`. */
  readonly inputUri?: string;
}

/** Deepest nesting of an input. */
const MAX_DEPTH = 64;

/** Invalid arguments. The message has the correction. */
export class BadArgumentsError extends Error {
  override readonly name = 'BadArgumentsError';
}

/** The arguments of a call as an object. Models sometimes send the object as text. */
export function argumentsObject(args: unknown): Record<string, unknown> {
  const value = typeof args === 'string' ? parsed(args) : args;
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>;
  throw new BadArgumentsError('The arguments are not an object.');
}

/** `task` of a call. */
export function taskArgument(args: Record<string, unknown>): string {
  const { task } = args as { task?: unknown };
  if (typeof task === 'string' && task.trim() !== '') return task;
  if (task !== undefined && task !== null && typeof task !== 'string') {
    throw new BadArgumentsError(`"task" is ${kindOf(task)}: it must be a text that describes the task.`);
  }
  throw new BadArgumentsError('"task" is missing: describe the task in plain language.');
}

/** `input` of a call, checked to be JSON that can be sent; empty without one. */
export function inputArgument(input: unknown): Pick<RunTask, 'input'> {
  if (input === undefined || input === null) return {};
  if (typeof input === 'string') return { input };
  if (typeof input !== 'object' || Array.isArray(input)) {
    throw new BadArgumentsError(`"input" is ${kindOf(input)}: it must be an object or a text.`);
  }
  if (!isJson(input, MAX_DEPTH)) {
    throw new BadArgumentsError(`"input" is nested deeper than ${MAX_DEPTH} levels, or is not JSON.`);
  }
  try {
    checkJson(JSON.stringify(input));
  } catch (error) {
    if (error instanceof JsonTextError) throw new BadArgumentsError(`"input" ${error.message}.`);
    throw error;
  }
  return { input: input as JsonObject };
}

/** `input_uri` in the schema of a tool that runs an agent. */
export const INPUT_URI_SCHEMA = {
  type: 'string',
  description: "In place of input: a sent file's input_uri.",
};

/** `input_uri` of a call; empty without one. */
export function inputUriArgument(args: Record<string, unknown>): Pick<RunTask, 'inputUri'> {
  const inputUri = textArgument(args, 'input_uri')?.trim();
  return inputUri === undefined || inputUri === '' ? {} : { inputUri };
}

/** `new_run` in the schema of a tool that runs an agent, for adapters with equal calls. */
export const NEW_RUN_SCHEMA = {
  type: 'boolean',
  description: 'true: another run, also where an equal call was just made.',
};

/** The options of a call. `new_run` starts another run in spite of an equal call. */
export function runOptions(args: Record<string, unknown>, options: ToolCallOptions): ToolCallOptions {
  return flagArgument(args, 'new_run') ? { ...options, equalCallsOf: undefined } : options;
}

/** An optional text argument. */
export function textArgument(args: Record<string, unknown>, name: string): string | undefined {
  const value = args[name];
  if (value === undefined || value === null || value === '') return undefined;
  if (typeof value === 'string') return value;
  throw new BadArgumentsError(`"${name}" is ${kindOf(value)}: it must be a text.`);
}

/** An optional flag. Models sometimes send it as text. Other values are refused, because a flag may decide about money. */
export function flagArgument(args: Record<string, unknown>, name: string): boolean {
  const value = args[name];
  if (value === true || value === 'true') return true;
  if (value === undefined || value === null || value === false || value === 'false' || value === '')
    return false;
  throw new BadArgumentsError(`"${name}" is ${kindOf(value)}: it must be true or false.`);
}

/** The type of a value in words, with a short form of a text, number or flag. */
export function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'an object';
  if (typeof value === 'string') return `the text ${JSON.stringify(creatorLine(value, 60))}`;
  return typeof value === 'number' || typeof value === 'boolean' ? `the ${typeof value} ${value}` : 'no JSON';
}

/** An optional number argument. Models sometimes send it as text. */
export function numberArgument(args: Record<string, unknown>, name: string): number | undefined {
  const value = args[name];
  if (value === undefined || value === null || value === '') return undefined;
  const number = typeof value === 'string' ? Number(value) : value;
  if (typeof number === 'number' && Number.isFinite(number)) return number;
  throw new BadArgumentsError(`"${name}" is ${kindOf(value)}: it must be a number.`);
}

function isJson(value: unknown, depth: number): value is Json {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return true;
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object' || depth === 0) return false;
  return Object.values(value).every((item) => item === undefined || isJson(item, depth - 1));
}

function parsed(text: string): unknown {
  try {
    return readJson(text);
  } catch {
    return undefined;
  }
}
