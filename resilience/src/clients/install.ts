import { createHash } from 'node:crypto';
import { copyFileSync, readdirSync, writeFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { npmBinary } from '@agent-rental/test/support/toolchains/npm-binary';
import { installOnce, runInstaller } from '../installation.js';
import type { Client } from './clients.js';

const PROGRAMS = fileURLToPath(new URL('../../src/clients/programs/', import.meta.url));

/** The program of an installed client, and its arguments. */
export type Installed = Awaited<ReturnType<typeof installClient>>;

/**
 * Installs a client's packages in a separate folder, unless they are there.
 *
 * @param programs the folder of its program, and of the program's imports.
 * @throws Error without Python 3 with `venv`, or when the packages cannot be installed.
 */
export async function installClient({ language, runtime, packages, program }: Client, programs = PROGRAMS) {
  const name = createHash('sha256').update(packages.join(' ')).digest('hex').slice(0, 16);
  const install = language === 'python' ? installPython : installJavaScript;
  const folder = await installOnce(join('clients', name), (target) => install(target, packages));
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
  await runInstaller('python3', ['-m', 'venv', folder]);
  const options = ['install', '--quiet', '--disable-pip-version-check'];
  await runInstaller(join(folder, 'bin', 'python'), ['-m', 'pip', ...options, ...packages]);
}

async function installJavaScript(folder: string, packages: readonly string[]): Promise<void> {
  writeFileSync(join(folder, 'package.json'), '{"private":true,"type":"module"}\n');
  const options = ['install', '--silent', '--no-audit', '--no-fund', '--ignore-scripts'];
  await runInstaller('npm', [...options, ...packages], folder);
}
