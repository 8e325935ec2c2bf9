import { execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { IS_QUICK } from '../form.js';

const run = promisify(execFile);
const INSTALL_TIMEOUT_MS = 300_000;
/** A busy machine takes a minute to import a framework. */
const SCRIPT_TIMEOUT_MS = 150_000;

/** An interpreter with packages, or why there is none. */
export type PythonEnvironment = { python: string } | { missing: string };

/**
 * An interpreter with exactly the packages of a requirements file, from PyPI. It is kept in the system's temporary folder,
 * under a hash of that file and of Python's version, for the next run.
 */
export async function pythonEnvironment(requirements: string): Promise<PythonEnvironment> {
  try {
    const { stdout: version } = await run('python3', [
      '-c',
      'import sys, venv, ensurepip; print(sys.version)',
    ]);
    const key = createHash('sha256')
      .update(version)
      .update(await readFile(requirements))
      .digest('hex')
      .slice(0, 16);
    const folder = join(tmpdir(), `agent-rental-python-${key}`);
    if (!existsSync(folder)) {
      await install(requirements, folder);
    }
    return { python: join(folder, 'bin', 'python') };
  } catch (error) {
    return { missing: error instanceof Error ? (error.message.split('\n')[0] ?? error.name) : String(error) };
  }
}

/**
 * As {@link pythonEnvironment}, for tests; not in the quick form, because PyPI takes longer than the tests.
 * @throws Error where the other forms cannot make the environment: CI skips nothing.
 */
export async function pythonInFullForm(requirements: string): Promise<PythonEnvironment> {
  if (IS_QUICK) return { missing: 'CI=true npm test runs it' };
  const environment = await pythonEnvironment(requirements);
  if ('missing' in environment) throw new Error(`${requirements}: ${environment.missing}`);
  return environment;
}

/** Renames the folder when it is complete, so that parallel runs never see a partial environment. */
async function install(requirements: string, folder: string): Promise<void> {
  const draft = await mkdtemp(`${folder}-`);
  try {
    await run('python3', ['-m', 'venv', draft]);
    const pip = ['-m', 'pip', 'install', '--quiet', '--no-input', '--disable-pip-version-check', '--no-deps'];
    await run(join(draft, 'bin', 'python'), [...pip, '-r', requirements], { timeout: INSTALL_TIMEOUT_MS });
    await rename(draft, folder);
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    // Another run was first.
    if (!existsSync(folder)) {
      throw error;
    }
  }
}

/** Runs a script, by its path, with a job on its standard input; its answer, both as JSON. */
export async function runPython(python: string, script: string, job: object): Promise<unknown> {
  const child = spawn(python, [script], {
    env: { PYTHONDONTWRITEBYTECODE: '1' },
    stdio: 'pipe',
    timeout: SCRIPT_TIMEOUT_MS,
  });
  child.stdin.end(JSON.stringify(job));
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close') as Promise<[number | null]>,
  ]);
  if (code !== 0) {
    throw new Error(`${script} ended with ${code}:\n${stderr}`);
  }
  return JSON.parse(stdout);
}
