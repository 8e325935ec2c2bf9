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
    // arbundles imports these and does not declare them.
    'async-retry': '1.3.3',
    axios: '1.21.1',
    multistream: '4.1.0',
    'tmp-promise': '3.0.3',
  },
  // arlocal names a Git repository for this package.
  overrides: { avsc: '5.7.7' },
};

/**
 * Installs arlocal and Arweave's clients in a separate folder, unless they are there. The install compiles arlocal's database.
 *
 * @returns the path of the program that starts the network.
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
