import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { transform } from 'esbuild';

const REPOSITORY = fileURLToPath(new URL('../../../../', import.meta.url));
const TIMEOUT_MS = 60_000;

/** The README of a package of this repository. */
export async function readReadme(name: string): Promise<string> {
  return readFile(join(REPOSITORY, 'packages', name, 'README.md'), 'utf8');
}

/** The code blocks of a README in one language, in order. */
export function codeBlocks(readme: string, language: string): readonly string[] {
  return Array.from(readme.matchAll(/^```(\w+)\n([^]*?)^```$/gm))
    .filter(([, found]) => found === language)
    .map(([, , code = '']) => code);
}

/** A new folder in which the packages of this repository are installed. */
export async function newProject(): Promise<{ readonly path: string; remove(): Promise<void> }> {
  const path = await mkdtemp(join(tmpdir(), 'readme-'));
  await symlink(join(REPOSITORY, 'node_modules'), join(path, 'node_modules'));
  return { path, remove: () => rm(path, { recursive: true }) };
}

/**
 * Runs TypeScript code as a user would: in a new process, inside a project that has installed the packages.
 *
 * @returns the standard output of the code
 * @throws when it exits with another code than 0
 */
export async function runCode(
  project: string,
  code: string,
  { environment = {}, input = '' }: { environment?: Record<string, string>; input?: string } = {},
): Promise<string> {
  const { code: script } = await transform(code, { loader: 'ts', format: 'esm' });
  const running = promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], {
    cwd: project,
    env: { ...process.env, ...environment },
    timeout: TIMEOUT_MS,
  });
  running.child.stdin?.end(input);
  return (await running).stdout;
}
