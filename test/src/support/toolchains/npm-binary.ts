import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const INSTALL_TIMEOUT_MS = 300_000;

/** A runtime that npm carries as a plain executable. */
interface NpmBinary {
  /** Name of the npm package with the executable for one platform. */
  packageName: (platform: string, arch: string) => string;
  version: string;
  /** Path of the executable in the package. */
  path: string;
}

/** Runtimes beside the one that runs the tests. They are not dependencies: Node's would be `node` in npm's scripts. */
export const RUNTIMES = {
  'Node 22': { packageName: (os, arch) => `node-${os}-${arch}`, version: '22.23.3', path: 'bin/node' },
  'Node 24': { packageName: (os, arch) => `node-${os}-${arch}`, version: '24.21.0', path: 'bin/node' },
  'Node 26': { packageName: (os, arch) => `node-${os}-${arch}`, version: '26.10.0', path: 'bin/node' },
  Bun: {
    packageName: (os, arch) => `@oven/bun-${os}-${arch === 'arm64' ? 'aarch64' : arch}`,
    version: '1.4.5',
    path: 'bin/bun',
  },
} as const satisfies Record<string, NpmBinary>;

/**
 * Path of a runtime's executable. npm installs it into the system's temporary folder, without install scripts. Later runs
 * find it there.
 *
 * @throws Error when npm cannot install it, for instance on a platform that it is not built for
 */
export async function npmBinary(name: keyof typeof RUNTIMES): Promise<string> {
  const { packageName, version, path }: NpmBinary = RUNTIMES[name];
  const named = packageName(process.platform, process.arch);
  const folder = join(tmpdir(), `agent-rental-${named.replaceAll(/[@/]/g, '-')}-${version}`);
  if (!existsSync(folder)) {
    // Renamed when complete, so that parallel runs never see a partial folder.
    const draft = await mkdtemp(`${folder}-`);
    try {
      const options = ['--prefix', draft, '--ignore-scripts', '--no-audit', '--no-fund', '--no-package-lock'];
      await run('npm', ['install', ...options, `${named}@${version}`], { timeout: INSTALL_TIMEOUT_MS });
      await rename(draft, folder);
    } catch (error) {
      await rm(draft, { recursive: true, force: true });
      if (!existsSync(folder)) throw error;
    }
  }
  return join(folder, 'node_modules', named, path);
}
