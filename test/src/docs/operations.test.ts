import { environment } from '@agent-rental/server/config';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { readText } from './repository.js';

/** The bounds that a variable's schema has, in the words of the table. */
function boundsOf(schema: unknown): string[] {
  const { minimum, maximum, exclusiveMinimum, maxItems, maxLength } = schema as Record<
    string,
    number | undefined
  >;
  const most = maximum === Number.MAX_SAFE_INTEGER ? undefined : maximum;
  const told = (value: number) => value.toLocaleString('en-US');
  return [
    ...(minimum !== undefined && most !== undefined ? [`${told(minimum)} to ${told(most)}`] : []),
    ...(minimum !== undefined && most === undefined ? [`at least ${told(minimum)}`] : []),
    ...(exclusiveMinimum === undefined
      ? []
      : [`above ${told(exclusiveMinimum)}, at most ${told(most ?? 0)}`]),
    ...(maxItems === undefined ? [] : [`most ${told(maxItems)}`]),
    ...(maxLength === undefined ? [] : [`at most ${told(maxLength)} characters`]),
  ];
}

const PAGE = readText('docs/operations.md');
const variables = Object.keys(environment.shape);

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

  test('tells the bounds of every variable that has some', () => {
    const { properties = {} } = z.toJSONSchema(environment, { unrepresentable: 'any' });
    const bounds = Object.entries(properties).flatMap(([name, schema]) =>
      boundsOf(schema).map((text) => ({ name, text })),
    );
    expect(bounds.length).toBeGreaterThan(20);
    const rows = PAGE.split('\n').filter((line) => line.startsWith('| '));
    const untold = bounds.filter(
      ({ name, text }) =>
        !rows.some((row) => row.split('|')[1]?.includes(`\`${name}\``) && row.includes(text)),
    );
    expect(untold).toEqual([]);
    const token = rows.find((row) => row.startsWith('| `METRICS_TOKEN`')) ?? '';
    const [least, most] = (/(\d+) to (\d+) visible/.exec(token) ?? []).slice(1).map(Number) as [
      number,
      number,
    ];
    const takes = (length: number) => environment.shape.METRICS_TOKEN.safeParse('a'.repeat(length)).success;
    expect([least - 1, least, most, most + 1].map(takes)).toEqual([false, true, true, false]);
  });

  test('names every sandbox driver, and so does docs/isolation.md', () => {
    const drivers = environment.shape.SANDBOX_DRIVER.unwrap().options.filter((name) => name !== 'auto');
    for (const page of [PAGE, readText('docs/isolation.md')])
      expect(drivers.filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
  });
});
