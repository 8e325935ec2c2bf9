import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A text that a mutant replaces; it stands in its file exactly once. */
export interface Replacement {
  find: string;
  replace: string;
}

/** One way to break the on-chain program. */
export interface Mutant {
  /** Under programs/marketplace/src. */
  file: string;
  /** What the broken program does, as the rest of a sentence. */
  does: string;
  replacements: readonly Replacement[];
  /** Why the mutant behaves as the program does; absent where it does not. */
  equivalent?: string;
}

const LIST = fileURLToPath(new URL('../../mutants/mutants.txt', import.meta.url));
const EQUIVALENT = 'equivalent: ';
const INSTRUCTION_ACCOUNT = /^        (\w+): ([\w<>]+)\s*=> (\w+\([^)]*\)),$/gm;

const textOf = (written: string): string => written.replaceAll('\\n', '\n');

function parseMutant(file: string, line: string): Mutant {
  const [does = '', ...parts] = line.split(' @@ ');
  const reason = parts.find((part) => part.startsWith(EQUIVALENT))?.slice(EQUIVALENT.length);
  const replacements = parts
    .filter((part) => !part.startsWith(EQUIVALENT))
    .map((part) => {
      const [find = '', replace = ''] = part.split(' ~>');
      return { find: textOf(find), replace: textOf(replace.slice(1)) };
    });
  return { file, does, replacements, ...(reason === undefined ? {} : { equivalent: reason }) };
}

/** A mutant for every account whose address an instruction checks: without that check. */
function addressMutants(src: string): Mutant[] {
  const names = readdirSync(join(src, 'instructions')).filter((name) => name !== 'mod.rs');
  return names.flatMap((name) => {
    const file = `instructions/${name}`;
    const accounts = [...readFileSync(join(src, file), 'utf8').matchAll(INSTRUCTION_ACCOUNT)];
    return accounts.map(([find, account, kind]) => ({
      file,
      does: `takes ${account} at any address`,
      replacements: [{ find, replace: `        ${account}: ${kind},` }],
    }));
  });
}

/**
 * All mutants of the program: those of fuzz/mutants/mutants.txt, which describes its format, and one for each address check.
 *
 * @param src the folder of the program's sources
 */
export function allMutants(src: string): Mutant[] {
  let file = '';
  const written: Mutant[] = [];
  for (const line of readFileSync(LIST, 'utf8').split('\n')) {
    const header = /^\[(.*)\]$/.exec(line)?.[1];
    if (header !== undefined) {
      file = header;
    } else if (line !== '' && !line.startsWith('#')) {
      written.push(parseMutant(file, line));
    }
  }
  return [...written, ...addressMutants(src)];
}

/**
 * The text of a mutant's file with its replacements made.
 *
 * @throws RangeError when a text to replace is not in the source exactly once
 */
export function breakSource(source: string, { file, does, replacements }: Mutant): string {
  return replacements.reduce((text, { find, replace }) => {
    const found = source.split(find).length - 1;
    if (found !== 1) {
      throw new RangeError(`${file}, "${does}": the source has the text ${found} times`);
    }
    return text.replace(find, () => replace);
  }, source);
}
