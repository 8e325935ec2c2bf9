import { TOOL_SCOPES, type AgentToolName, type JsonObject } from '@agent-rental/contract';
import { checkAgent, completeConnected } from '@agent-rental/sdk/creator/fetch';
import { lamportsOf } from '../payment.js';
import type { Violation } from './violations.js';

/** The typed form of an agent. */
export interface TypedAgent {
  mode: 'declarative' | 'connected';
  /** By the path of a field's member. An empty field has the empty text. */
  fields: ReadonlyMap<string, string>;
  tools: readonly AgentToolName[];
}

/** A registration, and its faults as far as the browser can find them. */
export interface Draft {
  body: Record<string, unknown>;
  faults: readonly Violation[];
}

/** Fields of one way to run an agent alone. */
const OF_MODE = {
  declarative: ['model.provider', 'model.model', 'model.endpoint_url', 'system_prompt', 'model_key'],
  connected: ['entrypoint_url'],
} as const;

/**
 * Makes the body of a registration from the typed form, with all its faults.
 *
 * @param leastPrice of a Per-Task listing, in lamports
 */
export function registrationOf({ mode, fields, tools }: TypedAgent, leastPrice?: number): Draft {
  const faults: Violation[] = [];
  const body: Record<string, unknown> = {};
  const other: readonly string[] = OF_MODE[mode === 'declarative' ? 'connected' : 'declarative'];
  for (const [path, text] of fields) {
    if (text.trim() === '' || other.includes(path)) continue;
    try {
      put(body, path, valueOf(path, text));
    } catch (error) {
      faults.push({ path, message: error instanceof Error ? error.message : String(error) });
    }
  }
  if (mode === 'declarative' && tools.length > 0) {
    body['tools'] = tools.map((name) => ({ name, scope: TOOL_SCOPES[name] }));
  }
  return withFaults(body, faults, leastPrice);
}

/**
 * Reads the document that the command line takes.
 *
 * @param key of the model's vendor, from the field beside it
 * @param leastPrice of a Per-Task listing, in lamports
 */
export function documentOf(text: string, key: string, leastPrice?: number): Draft {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch (error) {
    return { body: {}, faults: [{ path: '', message: `It is not JSON: ${(error as Error).message}` }] };
  }
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    return { body: {}, faults: [{ path: '', message: 'It is not a JSON object, as a manifest is.' }] };
  }
  const given = body as Record<string, unknown>;
  const { system_prompt_file: prompt, readme_file: readme, icon_file: icon, ...fields } = given;
  const faults = [
    { path: 'system_prompt_file', file: prompt, member: 'system_prompt' },
    { path: 'readme_file', file: readme, member: 'listing.readme' },
    { path: 'icon_file', file: icon, member: 'listing.icon, in base64' },
  ].flatMap(({ path, file, member }) =>
    file === undefined
      ? []
      : [{ path, message: `is read by the command line alone: put its content into ${member}` }],
  );
  return withFaults({ ...fields, ...(key === '' ? {} : { model_key: key }) }, faults, leastPrice);
}

/** The typed terms for a registration without terms. @throws Error naming the expected text. */
export function termsOf(fields: ReadonlyMap<string, string>): JsonObject {
  const terms: Record<string, unknown> = {};
  for (const [path, text] of fields) {
    if (text.trim() !== '') put(terms, path, valueOf(path, text));
  }
  return (terms['listing'] ?? {}) as JsonObject;
}

function withFaults(
  given: Record<string, unknown>,
  faults: readonly Violation[],
  leastPrice: number | undefined,
): Draft {
  const { body } = completeConnected(given);
  const told = new Set(faults.map(({ path }) => path));
  const found = checkAgent(body, leastPrice).faults.filter(({ path }) => !told.has(path));
  return { body, faults: [...faults, ...found] };
}

/** The value of a field. @throws Error naming the expected text. */
function valueOf(path: string, text: string): unknown {
  switch (path) {
    case 'input_schema':
    case 'output_schema':
      try {
        return JSON.parse(text);
      } catch (error) {
        throw new Error(`is not JSON: ${(error as Error).message}`, { cause: error });
      }
    case 'listing.price_lamports':
    case 'listing.min_deposit_lamports':
      return lamportsOf(text);
    case 'listing.sample_input':
      return objectOrText(text);
    case 'listing.sample_output':
      return [text];
    case 'timeout_seconds':
      return Number(text);
    case 'listing.free_trial':
      return text === 'true' ? true : text;
    default:
      return text.trim();
  }
}

function objectOrText(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : text;
  } catch {
    return text;
  }
}

/** Sets the member at a path of at most two names. */
function put(body: Record<string, unknown>, path: string, value: unknown): void {
  const [first = '', second] = path.split('.');
  if (second === undefined) body[first] = value;
  else body[first] = { ...(body[first] as object | undefined), [second]: value };
}
