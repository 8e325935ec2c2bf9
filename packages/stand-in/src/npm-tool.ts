import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const INSTALL_TIMEOUT_MS = 300_000;

/**
 * Path of a file in a package that only tests need. npm installs the package into the system's temporary folder, without
 * install scripts. Later runs find it there. It is not a dependency: tests need two versions of it, or it has many
 * dependencies.
 *
 * @param beside packages with their versions that it takes as peers, where npm would choose others
 * @throws Error when npm cannot install it
 */
export async function npmTool(
  name: string,
  version: string,
  path: string,
  beside: readonly string[] = [],
): Promise<string> {
  const named = [`${name}@${version}`, ...beside];
  const folder = join(
    tmpdir(),
    `agent-rental-tool${named
      .join('-')
      .replaceAll(/@(?=\d)/g, '-')
      .replaceAll(/[@/]/g, '-')}`,
  );
  if (!existsSync(folder)) {
    // Renamed when complete, so that parallel runs never see a partial folder.
    const draft = await mkdtemp(`${folder}-`);
    try {
      const options = ['--prefix', draft, '--ignore-scripts', '--no-audit', '--no-fund', '--no-package-lock'];
      await run('npm', ['install', ...options, ...named], { timeout: INSTALL_TIMEOUT_MS });
      await rename(draft, folder);
    } catch (error) {
      await rm(draft, { recursive: true, force: true });
      if (!existsSync(folder)) throw error;
    }
  }
  return join(folder, 'node_modules', name, path);
}
