import { describe, expect, test } from 'vitest';
import { codeSpans, pathExists, readText, REPOSITORY_PATH } from './repository.js';

describe('docs/changes.md', () => {
  const kinds = [...readText('docs/changes.md').matchAll(/^### (.*)\n([^#]*(?:#(?!#)[^#]*)*)/gm)].map(
    ([, kind = '', files = '']) => ({ kind, files }),
  );

  test.each([
    'endpoint',
    'error code',
    'rental model',
    'program instruction',
    'model vendor',
    'sandbox driver',
    'sort order',
    'tool that models call',
    'listing field and filter',
    'job and event',
    'CLI command',
    'page for people',
    'receipt field',
    'limit',
    'metric',
  ])('says where a change of the kind "%s" is made', (kind) => {
    expect(kinds.map(({ kind: name }) => name)).toContain(kind);
  });

  test.each(kinds)('names files that exist for the kind "$kind"', ({ files }) => {
    const paths = codeSpans(files).filter((code) => REPOSITORY_PATH.test(code));
    expect(paths).not.toEqual([]);
    expect(paths.filter((path) => !pathExists(path))).toEqual([]);
  });
});
