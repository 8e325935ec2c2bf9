// Builds changed packages. Shared by the commands that run from a fresh clone.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('..', import.meta.url));

/**
 * Compiles the workspaces, with a line of progress for each that has changed. Writes to stderr alone, and ends the process
 * with one clear line when it cannot compile.
 */
export async function build() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major < 20 || (major === 20 && minor < 19)) {
    fail(`Node ${process.versions.node} is too old: install Node 20.19 or later.`);
  }
  const compiler = `${root}node_modules/typescript/bin/tsc`;
  if (!existsSync(compiler)) fail('The dependencies are not installed: run "npm ci" first.');
  // Its native part: a folder of another machine's, or an installation without optional dependencies, has none that runs here.
  const { platform, arch } = process;
  if (!existsSync(`${root}node_modules/@typescript/typescript-${platform}-${arch}`)) {
    fail(
      `The installed dependencies are for another machine than this one (${platform} on ${arch}): run "npm ci" here.`,
    );
  }
  if (!existsSync(`${root}server/dist/main.js`)) say('Building. The first time this takes a minute or two.');
  const total = JSON.parse(readFileSync(`${root}tsconfig.json`, 'utf8')).references.length;
  const child = spawn(process.execPath, [compiler, '-b', '--verbose'], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise((resolve) => child.once('close', resolve));
  let seen = 0;
  let isChanged = !existsSync(`${root}server/dist/packages/sdk`);
  for await (const line of createInterface({ input: child.stdout })) {
    if (/ - Project '.*' is /.test(line)) seen += 1;
    const [, project] = / - Building project '(.*?)\/tsconfig\.json'/.exec(line) ?? [];
    if (project) {
      isChanged = true;
      process.stderr.write(`Building ${project} (${seen} of ${total})\n`);
    }
    // The other lines are errors of the compiler.
    else if (line.trim() !== '' && !/^\d\d:\d\d:\d\d [AP]M - /.test(line) && !/^ {4}\* /.test(line))
      process.stderr.write(`${line}\n`);
  }
  if ((await ended) !== 0) fail('The build failed; see above.');
  if (isChanged) await import('./stage-packages.mjs');
}

/** Writes to standard error, so that the output of a command stays its own. */
function say(text) {
  process.stderr.write(`${text}\n`);
}

function fail(message) {
  say(message);
  process.exit(1);
}
