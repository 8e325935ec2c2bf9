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

  test('names every metric', () => {
    const source = readText('server/src/operations/metrics.ts');
    const metrics = [
      ...[...source.matchAll(/name: '(agent_rental_\w+)'/g)].map(([, name = '']) => name),
      ...[...source.matchAll(/\bgauge\(\s*'(\w+)'/g)].map(([, name = '']) => `agent_rental_${name}`),
    ];
    expect(metrics.length).toBeGreaterThan(10);
    expect(metrics.filter((name) => !PAGE.includes(`\`${name}\``))).toEqual([]);
  });
});
