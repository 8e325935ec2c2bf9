import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { locateTool } from '../process/linux-launcher.js';
import { sharedLibraries } from './shared-libraries.js';

const run = promisify(execFile);
const TIMEOUT_MS = 20_000;
const OLDEST: readonly [number, number] = [3, 9];

/** No environment, no user's or site's packages, nothing written, UTF-8. */
const FLAGS = ['-I', '-S', '-B', '-X', 'utf8'];

const DESCRIBE = `
import json, os, sys, sysconfig
folders = [os.path.dirname(os.__file__), sysconfig.get_path('stdlib'), sysconfig.get_path('platstdlib')]
print(json.dumps({'version': sys.version_info[:2], 'folders': folders}))`;

export interface PythonRuntime {
  executable: string;
  flags: readonly string[];
  /** The executable, the folders of its standard library, and the shared libraries of both. */
  paths: readonly string[];
}

/** Absolute path of the evaluator in Python: one file without imports beyond the standard library. */
export function pythonEvaluatorPath(): string {
  return fileURLToPath(new URL('../../../python/evaluator.py', import.meta.url));
}

/**
 * Looks for the system's Python with its standard library.
 * @returns the reason as text, where there is no usable Python.
 */
export async function locatePython(): Promise<PythonRuntime | string> {
  const found = locateTool('python3');
  if (found === undefined) return 'python3 is not installed';
  try {
    const executable = await realpath(found);
    const { stdout } = await run(executable, [...FLAGS, '-c', DESCRIBE], { timeout: TIMEOUT_MS, env: {} });
    const { version, folders } = JSON.parse(stdout) as { version: [number, number]; folders: string[] };
    const [major, minor] = version;
    if (major !== OLDEST[0] || minor < OLDEST[1]) return `${found} is older than ${OLDEST.join('.')}`;
    const present = [...new Set(folders)].filter((folder) => existsSync(folder));
    const modules = await Promise.all(present.map(extensionModules));
    const libraries = await sharedLibraries([executable, ...modules.flat()]);
    return { executable, flags: FLAGS, paths: [executable, ...present, ...libraries] };
  } catch (error) {
    return `${found} cannot be used: ${error instanceof Error ? error.message : String(error)}`;
  }
}

async function extensionModules(folder: string): Promise<string[]> {
  const modules = join(folder, 'lib-dynload');
  if (!existsSync(modules)) return [];
  const names = await readdir(modules);
  return names.filter((name) => name.endsWith('.so')).map((name) => join(modules, name));
}
