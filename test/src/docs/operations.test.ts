import { environment } from '@agent-rental/server/config';
import { describe, expect, test } from 'vitest';
import { readText } from './repository.js';

const PAGE = readText('docs/operations.md');
const variables = [...readText('server/src/config.ts').matchAll(/^ {2}([A-Z][A-Z0-9_]+): /gm)].map(
  ([, name = '']) => name,
);

describe('docs/keys.md', () => {
  test('names every secret key and token of the environment', () => {
    const secrets = variables.filter((name) => /_(KEYS?|TOKEN)$/.test(name) && !name.includes('PUBLIC'));
    const page = readText('docs/keys.md');
    expect(secrets.length).toBeGreaterThan(5);
    expect(secrets.filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
  });
});

describe('docs/operations.md', () => {
  test('names every variable of the environment', () => {
    expect(variables.length).toBeGreaterThan(30);
    expect(variables.filter((name) => !PAGE.includes(`\`${name}\``) && !PAGE.includes(`${name}=`))).toEqual(
      [],
    );
  });

  test('names every sandbox driver, and so does docs/isolation.md', () => {
    const drivers = environment.shape.SANDBOX_DRIVER.unwrap().options.filter((name) => name !== 'auto');
    for (const page of [PAGE, readText('docs/isolation.md')])
      expect(drivers.filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
  });
});
