import type { JsonValue, RepositoryFile } from '../../protocol.js';
import { MAX_LISTED_FILES, MAX_SEARCH_RESULTS } from '../../runner-tools.js';
import {
  optionalBoolean,
  optionalInteger,
  optionalText,
  parseArguments,
  requiredText,
  ToolProblem,
} from './arguments.js';
import { findMatches } from './find-matches.js';
import type { Host } from '../host.js';

const MAX_READ_CHARACTERS = 65_536;
const MAX_PATH_CHARACTERS = 1_000;

function requireFiles(files: RepositoryFile[] | undefined): RepositoryFile[] {
  if (files === undefined) {
    throw new ToolProblem(
      'This task came without an archive: there are no files. Say so in your answer if it matters.',
    );
  }
  return files;
}

/** `./src/`, `/src` and `src` are the same folder; the empty text is the whole archive. */
function folderOf(text: string): string {
  const parts = text.split('/').filter((part) => part !== '' && part !== '.');
  return parts.length === 0 ? '' : `${parts.join('/')}/`;
}

/** `repo_list`: paths and sizes, in the order of paths, and where to continue. */
export function listFiles(files: RepositoryFile[] | undefined, rawArguments: string): JsonValue {
  const args = parseArguments(rawArguments, ['folder', 'offset']);
  const folder = folderOf(optionalText(args, 'folder', MAX_PATH_CHARACTERS));
  const offset = optionalInteger(args, 'offset', { min: 0, max: Number.MAX_SAFE_INTEGER, fallback: 0 });
  const inside = requireFiles(files).filter(({ path }) => path.startsWith(folder));
  const end = offset + MAX_LISTED_FILES;
  return {
    files: inside.slice(offset, end).map(({ path, size_bytes, text }) => ({
      path,
      size_bytes,
      ...(text === undefined ? { is_text: false } : {}),
    })),
    total: inside.length,
    next_offset: end < inside.length ? end : null,
  };
}

/** `repo_read`: some lines of one file. */
export function readFileLines(files: RepositoryFile[] | undefined, rawArguments: string): JsonValue {
  const args = parseArguments(rawArguments, ['path', 'line', 'lines']);
  const path = requiredText(args, 'path', MAX_PATH_CHARACTERS);
  const first = optionalInteger(args, 'line', { min: 1, max: Number.MAX_SAFE_INTEGER, fallback: 1 });
  const count = optionalInteger(args, 'lines', { min: 1, max: 5_000, fallback: 500 });
  const wanted = folderOf(path).slice(0, -1);
  const file = requireFiles(files).find((candidate) => candidate.path === wanted);
  if (file === undefined)
    throw new ToolProblem(`There is no file ${JSON.stringify(path)}; repo_list shows them.`);
  if (file.text === undefined) throw new ToolProblem(`${JSON.stringify(path)} is not a text file.`);
  const lines = file.text.split('\n');
  const taken: string[] = [];
  let characters = 0;
  for (const line of lines.slice(first - 1, first - 1 + count)) {
    if (taken.length > 0 && characters + line.length > MAX_READ_CHARACTERS) break;
    taken.push(line.slice(0, MAX_READ_CHARACTERS));
    characters += line.length + 1;
  }
  const next = first + taken.length;
  return { text: taken.join('\n'), total_lines: lines.length, next_line: next <= lines.length ? next : null };
}

/**
 * Searches files in their order.
 *
 * Also sent as source text to the evaluator, so it uses nothing from outside itself.
 */
function searchAll(
  files: RepositoryFile[],
  folder: string,
  find: (text: string, maxResults: number) => { line: number; text: string }[],
  maxResults: number,
): { path: string; line: number; text: string }[] {
  const found: { path: string; line: number; text: string }[] = [];
  for (const { path, text } of files) {
    if (found.length >= maxResults) break;
    if (typeof text !== 'string' || !path.startsWith(folder)) continue;
    for (const match of find(text, maxResults - found.length)) {
      found.push({ path, line: match.line, text: match.text });
    }
  }
  return found;
}

/**
 * `repo_search`. As in `search_input`, a regular expression is matched in a single-use process, which has the same
 * files in its input.
 */
export async function searchFiles(
  files: RepositoryFile[] | undefined,
  rawArguments: string,
  host: Host,
): Promise<JsonValue> {
  const args = parseArguments(rawArguments, ['query', 'folder', 'regex', 'case_sensitive', 'max_results']);
  const all = requireFiles(files);
  const query = requiredText(args, 'query', 500);
  const folder = folderOf(optionalText(args, 'folder', MAX_PATH_CHARACTERS));
  const flags = optionalBoolean(args, 'case_sensitive') ? 'u' : 'iu';
  const maxResults = optionalInteger(args, 'max_results', { min: 1, max: MAX_SEARCH_RESULTS, fallback: 50 });
  if (!optionalBoolean(args, 'regex')) {
    const literal = query.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`);
    return searchAll(all, folder, (text, most) => findMatches(text, literal, flags, most), maxResults);
  }
  const evaluation = await host.call('code.evaluate', {
    language: 'javascript',
    code:
      `const findMatches = ${String(findMatches)};\n` +
      `const find = (text, most) => findMatches(text, ${JSON.stringify(query)}, ${JSON.stringify(flags)}, most);\n` +
      `return (${String(searchAll)})(input.files, ${JSON.stringify(folder)}, find, ${maxResults});`,
  });
  if ('error' in evaluation) throw new ToolProblem(`The search did not succeed: ${evaluation.error}`);
  return evaluation.value;
}
