import { execFile } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const INSTALL_TIMEOUT_MS = 10 * 60_000;
const PROGRAM = fileURLToPath(new URL('../../src/arweave/programs/network.mjs', import.meta.url));
/** Where the installation is kept between two runs. */
const CACHE = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'agent-rental', 'arweave');

const PACKAGES = {
  name: 'arweave-network',
  private: true,
  dependencies: {
    '@dha-team/arbundles': '1.0.4',
    arlocal: '1.1.66',
    arweave: '1.15.7',
    // What arbundles imports and does not declare.
    'async-retry': '1.3.3',
    axios: '1.21.1',
    multistream: '4.1.0',
    'tmp-promise': '3.0.3',
  },
  // arlocal names a repository in its place.
  overrides: { avsc: '5.7.7' },
};

/**
 * Installs arlocal and the clients of Arweave in a folder of their own, unless they are there. The database of arlocal is
 * compiled.
 *
 * @returns the path of the program that starts them.
 */
export async function installNetwork(): Promise<string> {
  // Written last: an installation that was cut off is begun anew.
  const mark = join(CACHE, 'complete');
  const wanted = JSON.stringify(PACKAGES);
  if (!existsSync(mark)) {
    rmSync(CACHE, { recursive: true, force: true });
    mkdirSync(CACHE, { recursive: true });
    writeFileSync(join(CACHE, 'package.json'), wanted);
    const options = { cwd: CACHE, timeout: INSTALL_TIMEOUT_MS, maxBuffer: 64 * 1024 * 1024 };
    await run('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund'], options);
    await run('npm', ['rebuild', 'sqlite3'], options);
    writeFileSync(mark, '');
  }
  // Beside the packages, so that Node finds them.
  const program = join(CACHE, 'network.mjs');
  copyFileSync(PROGRAM, program);
  return program;
}
