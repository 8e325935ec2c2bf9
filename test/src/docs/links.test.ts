import { describe, expect, test } from 'vitest';
import {
  anchorsOf,
  codeSpans,
  documents,
  linksOf,
  pathExists,
  readText,
  REPOSITORY_PATH,
} from './repository.js';

describe('links between documents', () => {
  test.each(documents())('%s links to files and headings that exist', (path) => {
    const broken = linksOf(path).filter(
      ({ target, anchor }) =>
        !pathExists(target) ||
        (anchor !== undefined && target.endsWith('.md') && !anchorsOf(target).has(anchor)),
    );
    expect(broken).toEqual([]);
  });

  test('are found at all', () => {
    expect(linksOf('README.md').length).toBeGreaterThan(5);
  });
});

/** Files that a command writes, and build results. */
const MADE = /\/(?:dist|target)\//;

test.each(documents())('%s names files and folders of the repository that exist', (path) => {
  const named = codeSpans(readText(path)).filter((code) => REPOSITORY_PATH.test(code) && !MADE.test(code));
  expect(named.filter((name) => !pathExists(name))).toEqual([]);
});
