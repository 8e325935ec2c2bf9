import { describe, expect, test } from 'vitest';
import { readText } from './repository.js';

const PAGE = readText('docs/operations.md');

describe('docs/operations.md', () => {
  test('names every variable of the environment', () => {
    const variables = [...readText('server/src/config.ts').matchAll(/^ {2}([A-Z][A-Z0-9_]+): /gm)].map(
      ([, name = '']) => name,
    );
    expect(variables.length).toBeGreaterThan(30);
    expect(variables.filter((name) => !PAGE.includes(`\`${name}\``) && !PAGE.includes(`${name}=`))).toEqual(
      [],
    );
  });
});
