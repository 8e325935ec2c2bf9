import { describe, expect, test } from 'vitest';
import { codeSpans, documents, pathExists, readText, REPOSITORY_PATH, tableUnder } from './repository.js';

describe('CONTRIBUTING.md', () => {
  const rows = tableUnder(readText('CONTRIBUTING.md'), 'Where do I make this change?');

  test.each([
    'endpoint',
    'error code',
    'rental model',
    'program instruction',
    'model vendor',
    'sandbox driver',
    'sort order',
    'tool that models call',
    'receipt field',
    'limit',
    'metric',
  ])('says where a change of the kind "%s" is made', (kind) => {
    expect(rows.map(([name]) => name)).toContain(kind);
  });

  test.each(rows.map(([kind = '', files = '']) => ({ kind, files })))(
    'names files that exist for the kind "$kind"',
    ({ files }) => {
      const paths = codeSpans(files).filter((code) => REPOSITORY_PATH.test(code));
      expect(paths).not.toEqual([]);
      expect(paths.filter((path) => !pathExists(path))).toEqual([]);
    },
  );
});

describe('the commands that documents name', () => {
  const { scripts } = JSON.parse(readText('package.json')) as { scripts: Record<string, string> };

  test.each(documents().filter((path) => readText(path).includes('npm run ')))('of %s exist', (path) => {
    const named = [...readText(path).matchAll(/npm run (?:--?\w+ )*([a-z][\w:-]*)/g)].map(
      ([, name = '']) => name,
    );
    expect(named.filter((name) => !(name in scripts))).toEqual([]);
  });
});
