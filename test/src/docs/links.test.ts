import { describe, expect, test } from 'vitest';
import { anchorsOf, documents, linksOf, pathExists } from './repository.js';

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
