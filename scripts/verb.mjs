// `npm run <verb> -- <subject> [options]`: builds changed packages, then runs the program of that subject.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { build, root } from './build.mjs';
import { VERBS, verbHelp } from './verbs.mjs';

const [verb, subject, ...rest] = process.argv.slice(2);
const { subjects } = VERBS[verb];
const names = Object.keys(subjects).join(', ');
if (subject === '--help' || subject === '-h') {
  process.stdout.write(verbHelp(verb));
  process.exit(0);
}
if (subject === undefined || !Object.hasOwn(subjects, subject)) {
  const wrong = subject === undefined ? 'A subject is missing.' : `Unknown subject '${subject}'.`;
  process.stderr.write(
    `${wrong} npm run ${verb} takes: ${names}.\nnpm run ${verb} -- --help explains them.\n`,
  );
  process.exit(2);
}
await build();
const { status, signal } = spawnSync(process.execPath, await commandOf(subjects[subject]), {
  cwd: root,
  env: { ...process.env, ...subjects[subject].env },
  stdio: 'inherit',
});
process.exitCode = status ?? (signal === 'SIGINT' ? 130 : 1);

async function commandOf({ main, tests, sampled, project, summary, options, toArguments }) {
  if (tests)
    return [
      join(root, 'node_modules/vitest/vitest.mjs'),
      'run',
      ...(project ? ['--project', project] : []),
      ...tests,
      ...(sampled ? filesWith(sampled) : []),
      ...rest,
    ];
  if (!options) return [join(root, main), ...rest];
  const { readCommandLine } = await import('../test/dist/support/command-line/options.js');
  process.argv.splice(2, 2);
  const { values } = readCommandLine({ command: `npm run ${verb} -- ${subject}`, summary, options });
  return [join(root, main), ...toArguments(values)];
}

/** Test files whose text matches the pattern, without resilience. */
function filesWith(pattern) {
  const args = ['grep', '-lE', pattern, '--', '*.test.ts', ':!resilience'];
  const { stdout, stderr } = spawnSync('git', args, { cwd: root, encoding: 'utf8' });
  if (stdout) return stdout.trim().split('\n');
  throw new Error(`git grep found no test file. ${stderr ?? ''}`);
}
