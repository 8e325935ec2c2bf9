import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { sourcesOf, wordsOf } from './commands.js';
import { pathExists, readText, ROOT } from './repository.js';

const run = promisify(execFile);
const CLI = fileURLToPath(new URL('bin.js', import.meta.resolve('@agent-rental/cli')));
const { scripts } = JSON.parse(readText('package.json')) as { scripts: Record<string, string> };
const { VERBS } = (await import(new URL('../../../scripts/verbs.mjs', import.meta.url).href)) as {
  VERBS: Record<string, { subjects: Record<string, { main?: string }> }>;
};
/** Commands of npm itself. */
const OF_NPM = ['ci', 'install', 'start', 'test'];
/** Programs of others, which npx gets from the registry, and the tests that run them. */
const OF_OTHERS: Readonly<Record<string, string>> = {
  'mcp-remote': 'test/src/oauth/mcp-remote.test.ts',
  '@anthropic-ai/mcpb': 'scripts/check-packages/bundle.mjs',
};

/** Words that a program itself knows: options and commands, without files, numbers, `<values>` and VALUES. */
const knownWords = (words: readonly string[]) => words.filter((word) => /^-{0,2}[a-z][a-z-]*$/.test(word));

const helps = new Map<string, Promise<string>>();
/** The help of a built program, whose first arguments may follow its path. */
function helpOf(file: string): Promise<string> {
  const args = [...file.split(' '), '--help'];
  const known = helps.get(file) ?? run(process.execPath, args, { cwd: ROOT }).then(({ stdout }) => stdout);
  helps.set(file, known);
  return known;
}

/** Each command of the command line (`wallet/create`) with its options and subcommands. */
const commandLine = (async () => {
  const { stdout } = await run(process.execPath, [CLI, 'completion', 'fish']);
  const commands = new Map<string, string[]>();
  for (const [, path = '', words, option] of stdout.matchAll(/= '\/([^']*)'" (?:-f -a '([^']*)'|-l (\S+))/g))
    commands.set(path, [...(commands.get(path) ?? []), ...(words?.split(' ') ?? [`--${option}`])]);
  return commands;
})();

async function faultOfCli(words: readonly string[]): Promise<string | undefined> {
  const commands = await commandLine;
  const path = commands.has(words.slice(0, 2).join(' ')) ? words.slice(0, 2) : words.slice(0, 1);
  const options = commands.get(path.join(' '));
  if (options === undefined || path.length === 0) return `has no command ${words[0]}`;
  const unknown = words.filter((word) => word.startsWith('--') && !options.includes(word));
  return unknown.length > 0 ? `has no ${unknown.join()}` : undefined;
}

async function faultOfScript(words: readonly string[]): Promise<string | undefined> {
  const [name = '', ...rest] = words.filter((word, index) => index > 0 || !word.startsWith('--'));
  if (name.startsWith('<')) return undefined;
  const script = scripts[name];
  if (script === undefined) return `has no script ${name}`;
  const given = rest.filter((word) => word !== '--');
  const subjects = VERBS[name]?.subjects;
  const [subject = '', ...more] = given;
  if (subjects && !subject.startsWith('-')) {
    const unknown = subject.split(/\\?\|/).filter((one) => !(one in subjects));
    if (unknown.length > 0) return `has no subject ${unknown.join()}`;
  }
  const asked = knownWords(subjects ? more : given).filter((word) => word !== '--help');
  if (asked.length === 0) return undefined;
  const [program = ''] = /\S+\.m?js(?: \w+)?$/.exec(script) ?? [];
  const [, main = program] =
    /'\.\.\/(server\/dist\/\S+\.js)'/.exec(readText(program.split(' ')[0] ?? '')) ?? [];
  const help = await helpOf((subjects && subjects[subject]?.main) ?? main);
  const unknown = asked.filter((word) => !help.includes(word));
  return unknown.length > 0 ? `does not know ${unknown.join()}` : undefined;
}

/** Finds the fault of a command in a document; undefined when the command would be understood. */
export async function faultOf(
  command: string,
  document: string,
  here: (text: string) => string,
): Promise<string | undefined> {
  const fault = await findFault(command, document, here);
  return fault && `${document}: ${command}: ${fault}`;
}

async function findFault(
  command: string,
  document: string,
  here: (text: string) => string,
): Promise<string | undefined> {
  const [program = '', ...words] = wordsOf(command);
  const [first = '', ...rest] = words;
  const failed = ({ message }: Error) => message;
  switch (program) {
    case 'agent-rental':
      return faultOfCli(words);
    case 'npm':
      if (first === 'run') return faultOfScript(rest);
      return OF_NPM.includes(first) || first in scripts ? undefined : `has no ${first}`;
    case 'npx': {
      if (first === 'agent-rental') return faultOfCli(rest);
      if (first !== 'vitest')
        return first in OF_OTHERS || words.some((word) => word.endsWith('.tgz'))
          ? undefined
          : 'is of no test';
      const missing = rest.filter((word) => word.includes('/') && !pathExists(word));
      return missing.length > 0 ? `${missing.join()} is not there` : undefined;
    }
    case 'git':
      return run('bash', ['-c', here(command)], { cwd: ROOT }).then(() => undefined, failed);
    case 'curl': {
      const isStream = command.includes('text/event-stream');
      // A stream goes on: 28 says that the time has passed, and 200 that the stream was open.
      const ending = isStream ? " --max-time 5 -w ' %{http_code}' || [ $? = 28 ]" : ' --fail';
      return run('bash', ['-c', here(command) + ending], { cwd: ROOT }).then(
        ({ stdout }) => (!isStream || stdout.endsWith(' 200') ? undefined : stdout),
        failed,
      );
    }
    default:
      // A program that the document itself has, to be saved under this name.
      if (readText(document).includes(`as \`${first}\``)) return undefined;
      return sourcesOf(document, first).some(pathExists) ? undefined : `${first} is not there`;
  }
}
