import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { npmBinary } from '@agent-rental/test/support/toolchains/npm-binary';
import type { Client } from './clients.js';

const run = promisify(execFile);
const INSTALL_TIMEOUT_MS = 10 * 60_000;
const PROGRAMS = fileURLToPath(new URL('../../src/clients/programs/', import.meta.url));

/** Where installations are kept between two runs. */
const CACHE = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'agent-rental', 'clients');

/** How to start an installed client. */
export interface Installed {
  readonly file: string;
  readonly args: readonly string[];
}

/**
 * Installs a client's packages in a folder of their own, unless they are there.
 *
 * @param programs the folder of its program, and of what that imports.
 * @throws Error where there is no Python 3 with `venv`, or the packages cannot be had.
 */
export async function installClient(
  { language, runtime, packages, program }: Client,
  programs = PROGRAMS,
): Promise<Installed> {
  const name = createHash('sha256').update(packages.join(' ')).digest('hex').slice(0, 16);
  const folder = join(CACHE, name);
  // Written last: an installation that was cut off is begun anew.
  const mark = join(folder, 'complete');
  if (!existsSync(mark)) {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    await (language === 'python' ? installPython : installJavaScript)(folder, packages);
    writeFileSync(mark, '');
  }
  // Beside the packages, so that Node finds them.
  const copy = join(folder, program);
  for (const part of readdirSync(programs)) {
    if (extname(part) === extname(program)) copyFileSync(join(programs, part), join(folder, part));
  }
  const node = runtime === undefined ? process.execPath : await npmBinary(runtime);
  const file = language === 'python' ? join(folder, 'bin', 'python') : node;
  return { file, args: [copy] };
}

async function installPython(folder: string, packages: readonly string[]): Promise<void> {
  await run('python3', ['-m', 'venv', folder], { timeout: INSTALL_TIMEOUT_MS });
  const python = join(folder, 'bin', 'python');
  await run(python, ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', ...packages], {
    timeout: INSTALL_TIMEOUT_MS,
  });
}

async function installJavaScript(folder: string, packages: readonly string[]): Promise<void> {
  writeFileSync(join(folder, 'package.json'), '{"private":true,"type":"module"}\n');
  await run('npm', ['install', '--silent', '--no-audit', '--no-fund', '--ignore-scripts', ...packages], {
    cwd: folder,
    timeout: INSTALL_TIMEOUT_MS,
  });
}
