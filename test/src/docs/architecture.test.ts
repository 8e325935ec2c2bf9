import { describe, expect, test } from 'vitest';
import { codeSpans, namesIn, pathExists, readText, tableUnder } from './repository.js';

const PAGE = readText('docs/architecture.md');

/** Whether a TypeScript source defines a function, class or constant of this name. */
function defines(source: string, name: string): boolean {
  return new RegExp(String.raw`\b(?:function\*?|class|const|interface)\s+${name}\b`).test(source);
}

describe('the path of a request in docs/architecture.md', () => {
  const path = tableUnder(PAGE, 'The path of a request').map(([number, , ...row]) => ({ number, row }));
  const rows = [
    ...path.map(({ row }) => row),
    ...tableUnder(PAGE, 'Files beside the path').map(([, ...row]) => row),
  ].map(([file, functions]) => ({
    file: `server/src/${codeSpans(file ?? '')[0]}`,
    functions: codeSpans(functions ?? ''),
  }));

  test('is numbered in order, in at most 18 files, each once', () => {
    expect(path.map(({ number }) => Number(number))).toEqual(path.map((_, index) => index + 1));
    expect(path.length).toBeGreaterThan(10);
    expect(path.length).toBeLessThanOrEqual(18);
    expect(new Set(rows.map(({ file }) => file)).size).toBe(rows.length);
  });

  test.each(rows)('$file has $functions', ({ file, functions }) => {
    expect(functions).not.toEqual([]);
    expect(pathExists(file)).toBe(true);
    const source = readText(file);
    expect(functions.filter((name) => !defines(source, name))).toEqual([]);
  });

  test('names every file of the pipeline', () => {
    const sources = namesIn('server/src/runs/pipeline', 'file').filter((name) =>
      /(?<!test|test-support)\.ts$/.test(name),
    );
    const named = rows.map(({ file }) => file);
    expect(sources.filter((name) => !named.includes(`server/src/runs/pipeline/${name}`))).toEqual([]);
  });
});

describe('the steps of a run', () => {
  const STEPS = ['parse', 'admit', 'slot', 'check', 'charge', 'run', 'deliver'];

  test.each(STEPS)('%s calls neither another step nor the pipeline or the route', (step) => {
    const source = readText(`server/src/runs/pipeline/${step}.ts`);
    const imports = [...source.matchAll(/^import \{([^}]*)\} from '(\.[^']*)\.js'/gm)];
    const called = imports
      .filter(
        ([, , from = '']) =>
          [...STEPS, 'pipeline'].some((name) => from === `./${name}`) || from === '../routes',
      )
      .flatMap(([, names = '']) => names.split(',').map((name) => name.trim()))
      .filter((name) => name !== '' && !name.startsWith('type '));
    expect(called).toEqual([]);
  });
});

describe('the folders in docs/architecture.md', () => {
  test('are all packages, with their purpose', () => {
    const named = tableUnder(PAGE, 'Packages').flatMap(([folder]) => codeSpans(folder ?? ''));
    expect(named.filter((name) => !pathExists(name))).toEqual([]);
    const packages = namesIn('packages', 'folder').map((name) => `packages/${name}`);
    expect(packages.filter((name) => !named.includes(name))).toEqual([]);
  });

  test('are all folders of the server', () => {
    const named = tableUnder(PAGE, 'Folders of the server').flatMap(([folder]) => codeSpans(folder ?? ''));
    expect(named.toSorted()).toEqual(namesIn('server/src', 'folder'));
  });

  test('of runs are all named', () => {
    const runs = tableUnder(PAGE, 'Folders of the server').find(([folder]) => folder === '`runs`');
    expect(codeSpans(runs?.[1] ?? '').toSorted()).toEqual(namesIn('server/src/runs', 'folder'));
  });
});

describe('the states of a charge in docs/architecture.md', () => {
  test('equal the states in the code', () => {
    const table = readText('server/src/database/charge-states.ts');
    const states = [...table.matchAll(/^ {2}(\w+): \{ isOpen/gm)].map(([, state = '']) => state);
    const drawn = new Set(
      [...PAGE.matchAll(/^ {2}(\S+) --> (\S+?)(?::|$)/gm)].flatMap(([, from = '', to = '']) => [from, to]),
    );
    drawn.delete('[*]');
    expect([...drawn].toSorted()).toEqual(states.toSorted());
  });
});

test('the accounts in docs/architecture.md equal the program’s', () => {
  const program = JSON.parse(readText('packages/program-client/src/generated/idl.json')) as {
    accounts: { name: string }[];
  };
  const diagram = PAGE.split('## Accounts of the program')[1] ?? '';
  const missing = program.accounts
    .map(({ name }) => name)
    .filter((name) => !diagram.includes(`["${name}<br/>`));
  expect(missing).toEqual([]);
});
