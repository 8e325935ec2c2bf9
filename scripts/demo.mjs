// `npm run demo`: starts a temporary marketplace, tells the story on it, and removes it again.
import { fork } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build, root } from './build.mjs';

const [argument] = process.argv.slice(2);
if (argument === '--help' || argument === '-h') {
  process.stdout.write(
    'npm run demo\n\nStarts a temporary marketplace, rents and runs an agent step by step, and removes everything again.\nTakes no options. Ends with 0 when every step held.\n',
  );
  process.exit(0);
}
if (argument !== undefined) {
  process.stderr.write(`npm run demo takes no arguments, but was given ${argument}.\n`);
  process.exit(2);
}
await build();
const stateDir = mkdtempSync(join(tmpdir(), 'agent-rental-demo-'));
const started = (child) => new Promise((resolve) => child.once('message', () => resolve(true)));
const ended = (child) => new Promise((resolve) => child.once('exit', (code) => resolve(code ?? 1)));

process.stdout.write('Starting a temporary marketplace:\n');
const server = fork(join(root, 'server/dist/main.js'), {
  env: { ...process.env, STATE_DIR: stateDir, PORT: '0', LOCAL_CHAIN_PORT: '0' },
  stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
});
const serverEnded = ended(server);
const stop = async () => {
  server.kill('SIGTERM');
  await serverEnded;
  rmSync(stateDir, { recursive: true, force: true });
};
for (const signal of ['SIGINT', 'SIGTERM'])
  process.once(signal, () => void stop().then(() => process.exit(130)));

const isUp = await Promise.race([started(server), serverEnded.then(() => false)]);
let code = 1;
if (isUp) {
  const story = fork(join(root, 'examples/dist/story.js'), {
    env: { ...process.env, AGENT_RENTAL_STATE: stateDir },
  });
  code = await ended(story);
}
await stop();
process.exit(code);
