import { dirname, join } from 'node:path';
import { codeSpans, documents, readText } from './repository.js';

/** A fenced block of a document: its language with any role, and its text. */
export interface Block {
  readonly document: string;
  readonly language: string;
  readonly code: string;
}

/** The documents whose readers run something: all but the records of decisions. */
export const READ = [
  ...documents().filter((path) => !path.startsWith('docs/adr/')),
  'examples/mcp/README.md',
  'packages/cli/templates/shared/AGENTS.md',
];

const FENCED = /^( *)```(.*)\n([^]*?)^\1```$/gm;
/** The start of a command, behind the variables that it sets. */
const COMMAND = /^(?:[A-Z]\w*=\S* )*(?=(?:npx|npm|node|bash|sh|curl|git grep|agent-rental) \S)/;

/** The fenced blocks of a text. */
export function blocksOf(document: string, text = readText(document)): Block[] {
  return [...text.matchAll(FENCED)].map(([, , language = '', code = '']) => ({ document, language, code }));
}

/** The commands between backquotes, outside of blocks. */
export function commandSpans(text: string): string[] {
  return codeSpans(text.replaceAll(FENCED, '')).filter((code) => COMMAND.test(code));
}

/** The commands of a block, one for each line; undefined where a line is something else. */
export function commandLines(code: string): string[] | undefined {
  const lines = code
    .split('\n')
    .map((line) => line.replace(/\s+#.*$/, ''))
    .filter((line) => line !== '')
    .flatMap((line) => line.split(' && '));
  return lines.every((line) => COMMAND.test(line)) ? lines : undefined;
}

/** The words of a command, without variables, quotes and brackets of optional parts. */
export function wordsOf(command: string): string[] {
  const words = command.replace(COMMAND, '').match(/"[^"]*"|'[^']*'|\S+/g) ?? [];
  return words.map((word) => word.replaceAll(/^["'[]|["'\]]$/g, ''));
}

/** The source of a program that a document names from the repository's folder or from its own. */
export function sourcesOf(document: string, path: string): string[] {
  return [path, join(dirname(document), path)].map((file) =>
    file.replace('/dist/', '/src/').replace(/(\/src\/.*)\.js$/, '$1.ts'),
  );
}
