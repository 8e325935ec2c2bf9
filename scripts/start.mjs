// `npm start`: builds what has changed, then becomes the server.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  process.stderr.write(`Node ${process.versions.node} is too old: install Node 20.19 or later.\n`);
  process.exit(1);
}
const build = spawnSync(process.execPath, ['node_modules/typescript/bin/tsc', '-b'], {
  cwd: root,
  stdio: 'inherit',
});
if (build.status !== 0) {
  process.stderr.write('The build failed; see above. Was "npm ci" run?\n');
  process.exit(1);
}
await import('../server/dist/main.js');
