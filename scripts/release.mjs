// `npm run release -- add|status|version`: the changes that wait for a release, and the version they make.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { addRelease, readChange } from './changelog.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const HELP = `npm run release -- <subject>

  add      describes a change that users of a published package notice
  status   lists the changes that wait for a release
  version  raises the version of all packages and moves the changes to CHANGELOG.md
`;

const cli = join(dirname(createRequire(import.meta.url).resolve('@changesets/cli/package.json')), 'bin.js');

function run(command, args) {
  const { status } = spawnSync(command, args, { cwd: root, stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}

/** Raises the version, writes the changelog, and brings the lock file along. */
function makeVersion() {
  const folder = join(root, '.changeset');
  const changes = readdirSync(folder)
    .filter((name) => name.endsWith('.md') && name !== 'README.md')
    .toSorted()
    .map((name) => readChange(readFileSync(join(folder, name), 'utf8')));
  if (changes.length === 0) {
    process.stderr.write('No change waits for a release: npm run release -- add describes one.\n');
    process.exit(1);
  }
  run(process.execPath, [cli, 'version']);
  const { version } = JSON.parse(readFileSync(join(root, 'packages/contract/package.json'), 'utf8'));
  const path = join(root, 'CHANGELOG.md');
  const date = new Date().toISOString().slice(0, 10);
  writeFileSync(path, addRelease(readFileSync(path, 'utf8'), { version, date, changes }));
  run('npm', ['install', '--package-lock-only', '--ignore-scripts']);
}

const SUBJECTS = {
  add: () => run(process.execPath, [cli, 'add']),
  status: () => run(process.execPath, [cli, 'status']),
  version: makeVersion,
};

const [subject, ...rest] = process.argv.slice(2);
if (subject === '--help' || subject === '-h') process.stdout.write(HELP);
else if (subject !== undefined && Object.hasOwn(SUBJECTS, subject) && rest.length === 0) SUBJECTS[subject]();
else {
  process.stderr.write(`${subject === undefined ? 'A subject is missing' : 'Unknown arguments'}.\n\n${HELP}`);
  process.exitCode = 2;
}
