import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { idsIn, readRequirements } from './requirement.js';

const VITEST = join(dirname(createRequire(import.meta.url).resolve('vitest/package.json')), 'vitest.mjs');
const PLUGIN = new URL('../../dist/requirements/vitest-plugin.js', import.meta.url).href;

interface Fixture {
  lines: string[];
  /** Text of the test file; `test` and `expect` are there. */
  tests: string;
  args?: string[];
  /** The configuration leaves files out. */
  isPart?: boolean;
  /** Set for a run as in CI. */
  ci?: string;
}

async function folderOf({ lines, tests, isPart }: Fixture): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'requirements-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const config = `import { requirements } from ${JSON.stringify(PLUGIN)};
    const project = (name, include) => ({ plugins, test: { name, include, globals: true } });
    const plugins = [requirements(${JSON.stringify({ folder, isPart })})];
    export default { test: { projects: [project('a', ['a.test.js']), project('b', ['b.test.js'])] } };`;
  await Promise.all([
    writeFile(join(folder, 'area.md'), `# Area\n\n${lines.join('\n')}\n`),
    writeFile(join(folder, 'vitest.config.mjs'), config),
    writeFile(join(folder, 'a.test.js'), tests),
    writeFile(join(folder, 'b.test.js'), `test('of another project', () => {});`),
  ]);
  return folder;
}

/** A separate test run, as `npm test` is one. */
async function run(fixture: Fixture): Promise<{ code: number | null; output: string }> {
  const cwd = await folderOf(fixture);
  const args = [VITEST, 'run', ...(fixture.args ?? [])];
  const env = {
    PATH: process.env['PATH'],
    NO_COLOR: '1',
    ...(fixture.ci === undefined ? {} : { CI: fixture.ci }),
  };
  const child = spawn(process.execPath, args, { cwd, env });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { code, output };
}

const LINES = ['- `AB-1` decision: It does one thing.', '- `AB-2` specification, Section: It does another.'];
const BOTH = `test('one [AB-1]', () => {}); test('two [AB-2]', () => {});`;

describe('a full run', () => {
  test('passes when each line has a passing test, whatever the reporters', async () => {
    const { code, output } = await run({ lines: LINES, tests: BOTH, args: ['--reporter=dot'] });
    expect(output).toContain('2 of 2 requirements shown, 0 are for later');
    expect(code).toBe(0);
  });

  test.each([
    ['none names it', `test('one [AB-1]', () => {});`],
    ['the one that names it is skipped', `test('one [AB-1]', () => {}); test.skip('two [AB-2]', () => {});`],
    [
      'the one that names it fails',
      `test('one [AB-1]', () => {}); test('two [AB-2]', () => expect(1).toBe(2));`,
    ],
  ])('fails when a line has no test: %s', async (_, tests) => {
    const { code, output } = await run({ lines: LINES, tests, ci: 'true' });
    expect(output).toContain('No passing test shows AB-2 (area): It does another.');
    expect(output).not.toContain('No passing test shows AB-1');
    expect(code).toBe(1);
  });

  test('passes over a line whose tests are skipped where this is not CI, and says so', async () => {
    const tests = `test('one [AB-1]', () => {}); test.skip('two [AB-2]', () => {});`;
    const { code, output } = await run({ lines: LINES, tests });
    expect(output).toContain('1 of 2 requirements shown, 1 left out on this machine, 0 are for later');
    expect(code).toBe(0);
  });

  test('counts lines for later, until they are shown', async () => {
    const lines = [...LINES, '- `AB-3` decision; later, the third branch: It does a third thing.'];
    const before = await run({ lines, tests: BOTH });
    expect(before.output).toContain('2 of 2 requirements shown, 1 are for later');
    expect(before.code).toBe(0);
    const after = await run({ lines, tests: `${BOTH} test('three [AB-3]', () => {});` });
    expect(after.output).toContain('AB-3 (area) is shown by a test: it is not for later any more.');
    expect(after.code).toBe(1);
  });
});

describe('a part of the tests', () => {
  test.each([[['a.test.js']], [['--project', 'a']], [['-t', 'one']]])(
    'is not asked for every line: %j',
    async (args) => {
      const { code, output } = await run({ lines: LINES, tests: `test('one [AB-1]', () => {});`, args });
      expect(output).toContain('1 of 2 requirements shown by this part of the tests');
      expect(code).toBe(0);
    },
  );

  test('is also a run whose configuration leaves files out', async () => {
    const tests = `test('one [AB-1]', () => {});`;
    const { code, output } = await run({ lines: LINES, tests, isPart: true });
    expect(output).toContain('1 of 2 requirements shown by this part of the tests');
    expect(code).toBe(0);
  });

  test('fails for an id that no line has', async () => {
    const tests = `test('one [AB-1, AB-7]', () => {});`;
    const { code, output } = await run({ lines: LINES, tests, args: ['a.test.js'] });
    expect(output).toContain('No requirement has the id AB-7, which a test names: one [AB-1, AB-7]');
    expect(code).toBe(1);
  });
});

test('fails for an id in the title of a group, where it would show nothing', async () => {
  const tests = `describe('both [AB-1]', () => test('one', () => {}));`;
  const { code, output } = await run({ lines: LINES, tests, args: ['a.test.js'] });
  expect(output).toContain('A group of tests names a requirement; name it in a test: both [AB-1]');
  expect(code).toBe(1);
});

describe('the list of requirements', () => {
  test.each([
    ['a line in another form', { lines: ['- AB-1: It does one thing.'] }, 'another form'],
    ['an id twice', { lines: [LINES[0] ?? '', LINES[0] ?? ''] }, 'is twice'],
  ])('is refused with %s', async (_, fixture, message) => {
    const folder = await folderOf({ ...fixture, tests: '' });
    await expect(readRequirements(folder)).rejects.toThrow(message);
  });

  test.each([
    ['does it [AB-1]', ['AB-1']],
    ['does both [AB-1, CD-22] of: a row', ['AB-1', 'CD-22']],
    ['takes ["AB-1"], [1], [X] and AB-1', []],
  ])('is named by ids in brackets, case %#', (title, ids) => expect(idsIn(title)).toEqual(ids));
});
