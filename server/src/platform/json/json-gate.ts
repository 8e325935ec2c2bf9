import { setImmediate } from 'node:timers/promises';
import {
  checkJson,
  JSON_BOUNDS,
  JsonTextError,
  parseJson,
  type Json,
  type JsonBounds,
} from '@agent-rental/contract';

/** A request has its task and its other fields beside an input of the largest size. */
const REQUEST_BOUNDS = {
  bytes: 1_500_000,
  values: JSON_BOUNDS.values + 100,
  names: JSON_BOUNDS.names + 100,
  depth: JSON_BOUNDS.depth + 1,
};

/** The bounds at each entry of JSON that strangers make. */
export const JSON_ENTRIES = {
  request_body: REQUEST_BOUNDS,
  /** A manifest is walked more often than other bodies. */
  manifest_body: { ...REQUEST_BOUNDS, values: 15_000 },
  /** The arguments of a tool are three levels down. */
  mcp_message: { ...REQUEST_BOUNDS, depth: JSON_BOUNDS.depth + 3 },
  input_file: JSON_BOUNDS,
  endpoint_answer: JSON_BOUNDS,
  endpoint_event: { ...JSON_BOUNDS, depth: JSON_BOUNDS.depth + 1 },
  /** An event has one piece of the answer. Vendors write probabilities of tokens and the like, which the server does not read. */
  model_event: { ...JSON_BOUNDS, takesAnyNumber: true },
  client_document: JSON_BOUNDS,
} as const satisfies Record<string, JsonBounds>;

/** An entry of JSON that strangers make. */
export type JsonEntry = keyof typeof JSON_ENTRIES;

/** A longer text has an iteration of the event loop alone. */
const LARGE_CHARACTERS = 32 * 1024;

/** Ends with the iteration of the last large text. */
let lastLarge: Promise<void> = Promise.resolve();

/**
 * Checks the JSON text of a stranger by the bounds of its entry. A large text waits for an iteration of the event loop, and is
 * to be parsed in it.
 *
 * @throws JsonTextError for a text beyond a bound, or with a number that JavaScript would change
 */
export async function checkStrangersJson(entry: JsonEntry, text: string): Promise<void> {
  if (text.length > LARGE_CHARACTERS) await (lastLarge = lastLarge.then(() => setImmediate()));
  checkJson(text, JSON_ENTRIES[entry]);
}

/**
 * Reads the JSON text of a stranger, as `checkStrangersJson` checks it.
 *
 * @throws JsonTextError also for a text that is not JSON, with the fault `syntax`
 */
export async function readStrangersJson(entry: JsonEntry, text: string): Promise<Json> {
  await checkStrangersJson(entry, text);
  return parseJson(text) as Json;
}

export { JsonTextError };
