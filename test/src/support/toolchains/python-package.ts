import { execFile } from 'node:child_process';
import { cp, mkdtemp, readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const ROOT = fileURLToPath(new URL('../../../..', import.meta.url));
/** Type checks of a framework take minutes on a busy machine. */
const TIMEOUT_MS = 600_000;
const run = promisify(execFile);

/** Folder of the Python package in this repository. */
export const PYTHON_PACKAGE = join(ROOT, 'packages/python');

/** How a program ended, and all that it wrote. */
interface Said {
  said: string;
  isError: boolean;
}

/** The Python package as the marketplace serves it, built, with its tests beside it. */
export interface BuiltPackage {
  folder: string;
  /** Where the wheel is installed, without its dependencies. */
  site: string;
  wheel: string;
  sdist: string;
  /** The environment of a program that uses the installed package. */
  variables(interpreter: string, more?: Record<string, string>): Record<string, string>;
  /** Runs Python in the folder, with the installed package. */
  python(args: readonly string[], more?: Record<string, string>): Promise<Said>;
}

/**
 * Builds the staged package in a new folder: a source distribution, and the wheel of it.
 *
 * @param interpreter of an environment with the package's requirements
 * @throws Error with the output of a build that failed
 */
export async function buildPythonPackage(interpreter: string): Promise<BuiltPackage> {
  const folder = await mkdtemp(join(tmpdir(), 'agent-rental-python-package-'));
  const site = join(folder, 'site');
  await cp(join(ROOT, 'server/dist/packages/python'), folder, { recursive: true });
  await cp(join(PYTHON_PACKAGE, 'tests'), join(folder, 'tests'), { recursive: true });

  const variables: BuiltPackage['variables'] = (python, more = {}) => ({
    PATH: dirname(python) + delimiter + process.env['PATH'],
    PYTHONPATH: site,
    ...more,
  });
  const python: BuiltPackage['python'] = async (args, more = {}) => {
    const options = { cwd: folder, timeout: TIMEOUT_MS, env: variables(interpreter, more) };
    const ended = await run(interpreter, args, options).catch(
      (error: { stdout: string; stderr: string }) => error,
    );
    return { said: ended.stdout + ended.stderr, isError: ended instanceof Error };
  };

  const built = await python(['-m', 'build', '--no-isolation', '--outdir', 'dist', '.']);
  if (built.isError) throw new Error(built.said);
  const made = await readdir(join(folder, 'dist'));
  const pathOf = (ending: string) =>
    join(folder, 'dist', made.find((name) => name.endsWith(ending)) ?? ending);
  const [wheel, sdist] = [pathOf('.whl'), pathOf('.tar.gz')];
  const quiet = ['--quiet', '--no-deps', '--no-index', '--no-compile', '--disable-pip-version-check'];
  const installed = await python(['-m', 'pip', 'install', ...quiet, '--target', site, wheel]);
  if (installed.isError) throw new Error(installed.said);
  return { folder, site, wheel, sdist, variables, python };
}
