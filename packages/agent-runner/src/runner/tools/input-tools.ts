import { MAX_READ_CHARACTERS, MAX_SEARCH_RESULTS } from '../../runner-tools.js';
import type { JsonValue, RunRequest } from '../../protocol.js';
import { optionalBoolean, optionalInteger, parseArguments, requiredText, ToolProblem } from './arguments.js';
import { findMatches } from './find-matches.js';
import type { Host } from '../host.js';

function requireInput(text: string | undefined): string {
  if (text === undefined) throw new ToolProblem('This task has no input.');
  return text;
}

/** `read_input`: a part of the input's text, and where the next part begins. */
export function readInput(text: string | undefined, rawArguments: string): JsonValue {
  const args = parseArguments(rawArguments, ['offset', 'length']);
  const input = requireInput(text);
  const offset = optionalInteger(args, 'offset', { min: 0, max: Number.MAX_SAFE_INTEGER, fallback: 0 });
  const length = optionalInteger(args, 'length', {
    min: 1,
    max: MAX_READ_CHARACTERS,
    fallback: MAX_READ_CHARACTERS,
  });
  const part = input.slice(offset, offset + length);
  const end = offset + part.length;
  return { text: part, total_length: input.length, next_offset: end < input.length ? end : null };
}

/** `list_inputs`. */
export function listInputs(
  input: RunRequest['input'],
  text: string | undefined,
  rawArguments: string,
): JsonValue {
  parseArguments(rawArguments, []);
  if (text === undefined) return [];
  return [{ name: 'input', type: typeof input === 'string' ? 'text' : 'json', length: text.length }];
}

/**
 * `search_input`. A regular expression of a model can take for ever. It is therefore matched in a single-use process with a
 * timeout, and never in this process.
 */
export async function searchInput(
  text: string | undefined,
  rawArguments: string,
  host: Host,
): Promise<JsonValue> {
  const args = parseArguments(rawArguments, ['query', 'regex', 'case_sensitive', 'max_results']);
  const input = requireInput(text);
  const query = requiredText(args, 'query', 500);
  const flags = optionalBoolean(args, 'case_sensitive') ? 'u' : 'iu';
  const maxResults = optionalInteger(args, 'max_results', { min: 1, max: MAX_SEARCH_RESULTS, fallback: 50 });
  if (!optionalBoolean(args, 'regex')) {
    const literal = query.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`);
    return findMatches(input, literal, flags, maxResults).map((match) => ({ ...match }));
  }
  const evaluation = await host.call('code.evaluate', {
    language: 'javascript',
    code:
      `const text = typeof input === 'string' ? input : JSON.stringify(input, null, 2);\n` +
      `return (${String(findMatches)})(text, ${JSON.stringify(query)}, ${JSON.stringify(flags)}, ${maxResults});`,
  });
  if ('error' in evaluation) throw new ToolProblem(`The search did not succeed: ${evaluation.error}`);
  return evaluation.value;
}
