import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** One way to break the on-chain program. */
export interface Mutant {
  /** Under programs/marketplace/src. */
  file: string;
  /** The fault of the broken program, as the rest of a sentence. */
  does: string;
  /** Texts that occur exactly once in the file, each with its replacement. */
  replacements: readonly (readonly [find: string, replacement: string])[];
  /** The reason why the mutant behaves like the program; absent when it does not. */
  equivalent?: string | undefined;
}

const LIST = fileURLToPath(new URL('../../mutants/mutants.txt', import.meta.url));
const EQUIVALENT = 'equivalent: ';
const INSTRUCTION_ACCOUNT = /^        (\w+): ([\w<>]+)\s*=> (\w+\([^)]*\)),$/gm;

function parseMutant(file: string, line: string): Mutant {
  const [does = '', ...parts] = line.replaceAll('\\n', '\n').split(' @@ ');
  const changes = parts.filter((part) => !part.startsWith(EQUIVALENT));
  return {
    file,
    does,
    replacements: changes.map((part) => {
      const [find = '', replacement = ''] = part.split(' ~>');
      return [find, replacement.slice(1)];
    }),
    equivalent: parts.find((part) => part.startsWith(EQUIVALENT))?.slice(EQUIVALENT.length),
  };
}

/** A mutant for every address check of an instruction's account. It removes the check. */
function addressMutants(src: string): Mutant[] {
  const names = readdirSync(join(src, 'instructions')).filter((name) => name !== 'mod.rs');
  return names.flatMap((name) => {
    const file = `instructions/${name}`;
    const accounts = [...readFileSync(join(src, file), 'utf8').matchAll(INSTRUCTION_ACCOUNT)];
    return accounts.map(([find, account, kind]) => ({
      file,
      does: `takes ${account} at any address`,
      replacements: [[find, `        ${account}: ${kind},`] as const],
    }));
  });
}

/**
 * All mutants of the program: the list in fuzz/mutants/mutants.txt, which describes its format, and one for each address check.
 *
 * @param src the folder of the program's sources
 */
export function allMutants(src: string): Mutant[] {
  const sections = readFileSync(LIST, 'utf8').split(/^\[(.*)\]$/m);
  const written = sections.flatMap((file, at) =>
    at % 2 === 0
      ? []
      : ((sections[at + 1] ?? '').match(/^.+$/gm)?.map((line) => parseMutant(file, line)) ?? []),
  );
  return [...written, ...addressMutants(src)];
}

/**
 * Applies a mutant's replacements to its file's text.
 *
 * @throws RangeError when a text to replace is not in the source exactly once
 */
export function breakSource(source: string, { file, does, replacements }: Mutant): string {
  return replacements.reduce((text, [find, replacement]) => {
    const found = source.split(find).length - 1;
    if (found !== 1) {
      throw new RangeError(`${file}, "${does}": the source has the text ${found} times`);
    }
    return text.replace(find, () => replacement);
  }, source);
}
