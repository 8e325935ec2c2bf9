// `npm run docs:api`: writes the reference of the published packages to dist/api, from their docstrings.
import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { build, root } from '../build.mjs';
import { existsSync, readFileSync, readdirSync } from 'node:fs';

/** Sources of the published packages' exports, read from their `exports`. */
function entryPoints() {
  return readdirSync(join(root, 'packages')).flatMap((folder) => {
    const file = join(root, 'packages', folder, 'package.json');
    if (!existsSync(file)) return [];
    const manifest = JSON.parse(readFileSync(file, 'utf8'));
    if (manifest.private) return [];
    return Object.values(manifest.exports ?? {}).map(({ types }) =>
      join(root, 'packages', folder, types.replace('./dist/', 'src/').replace(/\.d\.ts$/, '.ts')),
    );
  });
}

if (process.argv.length > 2) {
  process.stdout.write(
    'npm run docs:api\n\nWrites the reference of the published packages to dist/api. No options.\n',
  );
  process.exit(['--help', '-h'].includes(process.argv[2]) ? 0 : 2);
}
await build();
// TypeDoc needs the compiler's JavaScript API, which its own copy of TypeScript has.
const typedoc = join(dirname(createRequire(import.meta.url).resolve('typedoc/package.json')), 'bin/typedoc');
const options = [
  ['--tsconfig', join(root, 'scripts/api-docs/tsconfig.json')],
  ['--out', join(root, 'dist/api')],
  ['--name', 'Agent Rental Marketplace'],
  ['--readme', join(root, 'README.md')],
  ['--excludePrivate', '--excludeInternal', '--skipErrorChecking', '--disableSources'],
];
const { status } = spawnSync(process.execPath, [typedoc, ...options.flat(), ...entryPoints()], {
  cwd: root,
  stdio: 'inherit',
});
process.exitCode = status ?? 1;
