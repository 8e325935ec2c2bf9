import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { installOnce, runInstaller } from '../installation.js';

const PROGRAM = fileURLToPath(new URL('../../src/arweave/programs/network.mjs', import.meta.url));
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
  const folder = await installOnce('arweave', async (cwd) => {
    writeFileSync(join(cwd, 'package.json'), JSON.stringify(PACKAGES));
    await runInstaller('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund'], cwd);
    await runInstaller('npm', ['rebuild', 'sqlite3'], cwd);
  });
  // Beside the packages, so that Node finds them.
  const program = join(folder, 'network.mjs');
  copyFileSync(PROGRAM, program);
  return program;
}
