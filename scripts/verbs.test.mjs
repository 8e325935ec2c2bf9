import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { VERBS } from './verbs.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));

const { stdout: listed } = spawnSync('git', ['ls-files'], { cwd: root, encoding: 'utf8' });
const sources = listed.split('\n').filter((path) => /\.(ts|mjs)$/.test(path));

/** Runs a script of this folder, without a build before it. */
function run(script, ...args) {
  const path = fileURLToPath(new URL(script, import.meta.url));
  const { status, stdout, stderr } = spawnSync(process.execPath, [path, ...args], { encoding: 'utf8' });
  return { status, stdout, stderr };
}

describe.each(Object.entries(VERBS))('npm run %s', (verb, { subjects }) => {
  test('is a script of package.json', () => {
    const { scripts } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'));
    expect(scripts[verb]).toBe(`node scripts/verb.mjs ${verb}`);
  });

  test.each(Object.keys(subjects))('-- %s has sources that exist', (subject) => {
    const { main, tests = [main.replace('/dist/', '/src/').replace(/\.js$/, '.ts')] } = subjects[subject];
    for (const filter of tests) expect(sources.filter((path) => path.includes(filter))).not.toEqual([]);
  });

  test('explains its subjects for --help', () => {
    const { status, stdout } = run('verb.mjs', verb, '--help');
    expect(status).toBe(0);
    for (const subject of Object.keys(subjects)) expect(stdout).toContain(`\n  ${subject} `);
  });

  test.each([
    [['nonsense'], "Unknown subject 'nonsense'."],
    [[], 'A subject is missing.'],
    [['toString'], "Unknown subject 'toString'."],
  ])('refuses %j in two lines that name the subjects', (args, message) => {
    const { status, stderr } = run('verb.mjs', verb, ...args);
    expect(status).toBe(2);
    expect(stderr).toContain(message);
    expect(stderr).toContain(Object.keys(subjects).join(', '));
    expect(stderr.trim().split('\n')).toHaveLength(2);
  });
});

describe('npm run check', () => {
  test('explains its parts for --help', () => {
    expect(run('check.mjs', '--help')).toMatchObject({
      status: 0,
      stdout: expect.stringContaining('  lint '),
    });
  });

  test('refuses an unknown part', () => {
    const { status, stderr } = run('check.mjs', 'lint', 'nonsense');
    expect(status).toBe(2);
    expect(stderr).toContain("Unknown part 'nonsense'. npm run check takes: lint, directions, format,");
  });
});

test('npm run demo prints help, and refuses unknown arguments', () => {
  expect(run('demo.mjs', '--help')).toMatchObject({
    status: 0,
    stdout: expect.stringContaining('npm run demo'),
  });
  expect(run('demo.mjs', '--port')).toMatchObject({ status: 2, stderr: expect.stringContaining('--port') });
});
