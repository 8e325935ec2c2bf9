import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { SandboxStartError } from '../../sandbox.js';

/**
 * The Deno executable of the `deno` package's part for this platform, in npm's folder. The package's `bin` does not help: it
 * is a Node script, and needs install scripts.
 * @throws SandboxStartError naming the missing part.
 */
export function locateDenoBinary(): string {
  const target = `${process.platform}-${process.arch}${process.platform === 'linux' ? '-glibc' : ''}`;
  let folder: string;
  try {
    // Resolved from the `deno` package, which may be in any folder above or beside this package.
    const fromDeno = createRequire(createRequire(import.meta.url).resolve('deno/package.json'));
    folder = dirname(fromDeno.resolve(`@deno/${target}/package.json`));
  } catch (error) {
    throw new SandboxStartError(
      `the npm package @deno/${target} is not installed: run npm ci with optional dependencies. ` +
        'Deno supports Linux with glibc, macOS and Windows, on x64 and arm64.',
      { cause: error },
    );
  }
  const binary = join(folder, process.platform === 'win32' ? 'deno.exe' : 'deno');
  if (!existsSync(binary)) throw new SandboxStartError(`${binary} does not exist: run npm ci again`);
  return binary;
}
