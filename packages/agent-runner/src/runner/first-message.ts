import type { RepositoryFile, RunRequest } from '../protocol.js';
import { answerKind } from './answer.js';

/** Inputs up to this size are put into the first message whole. */
const INLINE_INPUT_CHARACTERS = 16_384;
const PREVIEW_CHARACTERS = 1_000;
const SHOWN_PATHS = 40;

/** The ways in which the model's tools read an input that is too large for the first message. */
function waysToRead(tools: readonly string[]): string[] {
  const ways: string[] = [];
  if (tools.includes('read_input')) ways.push('read it in parts with read_input');
  if (tools.includes('search_input')) ways.push('find passages with search_input');
  if (tools.includes('run_javascript')) {
    ways.push('work on all of it with run_javascript, where it is the variable `input`');
  }
  if (tools.includes('run_python')) ways.push('work on all of it with run_python, where it is `input`');
  return ways;
}

function describeFiles(files: RepositoryFile[], tools: readonly string[]): string {
  const paths = files.slice(0, SHOWN_PATHS).map(({ path, size_bytes }) => `${path} (${size_bytes} bytes)`);
  const more = files.length > SHOWN_PATHS ? `\n... and ${files.length - SHOWN_PATHS} more` : '';
  const inCode = tools.some((name) => name === 'run_javascript' || name === 'run_python')
    ? ' In code they are the list `files` of `input`: objects with path, size_bytes and text.'
    : '';
  return (
    `The input is an archive of ${files.length} files, to be read with ` +
    `${tools.filter((name) => name.startsWith('repo_')).join(', ')}.${inCode}\n` +
    `<files>\n${paths.join('\n')}${more}\n</files>`
  );
}

function describeInput(input: RunRequest['input'], text: string, tools: readonly string[]): string {
  const form = typeof input === 'string' ? 'text' : 'JSON';
  const ways = waysToRead(tools);
  // Without a tool that reads the input, the first message shows all of it.
  if (text.length <= INLINE_INPUT_CHARACTERS || ways.length === 0) {
    return `The input (${form}, ${text.length} characters):\n<input>\n${text}\n</input>`;
  }
  return (
    `The input is ${form} of ${text.length} characters, too long to be shown here: ${ways.join(', or ')}. ` +
    `It begins:\n<input_beginning>\n${text.slice(0, PREVIEW_CHARACTERS)}\n</input_beginning>`
  );
}

function describeAnswer(outputSchema: RunRequest['outputSchema']): string | undefined {
  const kind = answerKind(outputSchema);
  if (kind === 'text') return undefined;
  const form =
    kind === 'json'
      ? 'Your final answer must be one JSON value and nothing else, valid against this JSON Schema:'
      : 'Your final answer must be valid against this JSON Schema; plain text counts as a string:';
  return `${form}\n${JSON.stringify(outputSchema)}`;
}

/** The first message of the conversation: the task, the input (or the ways to read it), and the form of the answer. */
export function firstMessage(run: RunRequest, text: string | undefined, tools: readonly string[]): string {
  const parts = [run.task];
  if (run.files !== undefined) parts.push(describeFiles(run.files, tools));
  else if (text !== undefined) parts.push(describeInput(run.input, text, tools));
  const answer = describeAnswer(run.outputSchema);
  if (answer !== undefined) parts.push(answer);
  return parts.join('\n\n');
}
