// Builds what has changed. Shared by the commands that run from a fresh clone.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('..', import.meta.url));

/** Compiles the workspaces and says what is being built; ends the process with one clear line when that cannot be done. */
export async function build() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major < 20 || (major === 20 && minor < 19)) {
    fail(`Node ${process.versions.node} is too old: install Node 20.19 or later.`);
  }
  const compiler = `${root}node_modules/typescript/bin/tsc`;
  if (!existsSync(compiler)) fail('The dependencies are not installed: run "npm ci" first.');
  if (!existsSync(`${root}server/dist/main.js`)) say('Building. The first time this takes a minute or two.');
  const { references } = JSON.parse(readFileSync(`${root}tsconfig.json`, 'utf8'));
  const projects = references.map(({ path }) => path);
  const child = spawn(process.execPath, [compiler, '-b', '--verbose'], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise((resolve) => child.once('close', resolve));
  for await (const line of createInterface({ input: child.stdout })) {
    const project = /^[\d:]+ (?:[AP]M )?- Building project '(.+)\/tsconfig.*\.json'/.exec(line)?.[1];
    if (project !== undefined) {
      const place = projects.indexOf(project) + 1;
      say(place > 0 ? `Building ${project} (${place} of ${projects.length})` : `Building ${project}`);
    } else if (line.trim() !== '' && !/^[\d:]+ (?:[AP]M )?- /.test(line) && !/^ {4}\* /.test(line)) {
      process.stdout.write(`${line}\n`);
    }
  }
  if ((await ended) !== 0) fail('The build failed; see above.');
}

/** On standard error, so that the output of a command stays its own. */
function say(text) {
  process.stderr.write(`${text}\n`);
}

function fail(message) {
  say(message);
  process.exit(1);
}
