// Builds what has changed. Shared by the commands that run from a fresh clone.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('..', import.meta.url));

/** Compiles the workspaces; ends the process with one clear line when that cannot be done. */
export function build() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major < 20 || (major === 20 && minor < 19)) {
    fail(`Node ${process.versions.node} is too old: install Node 20.19 or later.`);
  }
  const compiler = `${root}node_modules/typescript/bin/tsc`;
  if (!existsSync(compiler)) fail('The dependencies are not installed: run "npm ci" first.');
  const { status } = spawnSync(process.execPath, [compiler, '-b'], { cwd: root, stdio: 'inherit' });
  if (status !== 0) fail('The build failed; see above.');
}

function fail(message) {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}
