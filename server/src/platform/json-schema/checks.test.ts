import { afterAll, describe, expect, it } from 'vitest';
import { InvalidSchemaError } from './errors.js';
import { createSchemaChecks } from './checks.js';

const checks = createSchemaChecks({ schema: 20_000, value: 2_000, backtracking: 1_000 });
const strict = createSchemaChecks({ schema: 1, value: 20_000, backtracking: 20_000 });
afterAll(async () => {
  await Promise.all([checks.close(), strict.close()]);
});

/** Takes a minute on any machine: each of many long names is matched against each pattern of many states. */
const HOSTILE = {
  type: 'object',
  patternProperties: Object.fromEntries(
    Array.from({ length: 24 }, (_, at) => [`^(x?y?){200}${at}$`, { type: 'string' }]),
  ),
};
const VICTIM = Object.fromEntries(
  Array.from({ length: 8_000 }, (_, at) => [`${'xy'.repeat(100)}z${at}`, 'text']),
);

describe('schema checks', () => {
  it('report each violation of the schema', async () => {
    const schema = { type: 'object', required: ['a'], properties: { a: { type: 'integer' } } };
    expect(await checks.violations(schema, { a: 1 })).toEqual([]);
    expect(await checks.violations(schema, { a: 'x' })).toEqual([{ path: '/a', message: 'must be integer' }]);
    await checks.checkSchema(schema);
    for (const wrong of [{ type: 'nonsense' }, { $ref: 'https://example.com/schema' }]) {
      await expect(checks.checkSchema(wrong)).rejects.toThrow(InvalidSchemaError);
      await expect(checks.violations(wrong, 1)).rejects.toThrow(InvalidSchemaError);
    }
  });

  it('of a schema that says nothing need no thread', async () => {
    const late = createSchemaChecks({ schema: 0, value: 0, backtracking: 0 });
    expect(await late.violations({}, { a: [1] })).toEqual([]);
    await late.checkSchema({});
    expect(await late.violations(HOSTILE, VICTIM)).not.toEqual([]);
    await late.close();
  });

  it('of a value that cannot be checked in time end, while the server goes on, and the next ones are served', async () => {
    let turns = 0;
    const turning = setInterval(() => (turns += 1), 10);
    const hostile = Promise.all([1, 2].map(() => checks.violations(HOSTILE, VICTIM)));
    const honest = checks.violations({ type: 'string' }, 'text');
    expect(await hostile).toEqual(
      [1, 2].map(() => [{ path: '', message: expect.stringContaining('too intricate') as string }]),
    );
    clearInterval(turning);
    expect(await honest).toEqual([]);
    // On the event loop it would have turned once.
    expect(turns).toBeGreaterThan(10);
    // The same schema blocks no second check.
    const before = performance.now();
    expect(await checks.violations(HOSTILE, { a: 1 })).toHaveLength(1);
    expect(performance.now() - before).toBeLessThan(2_000);
  });

  it('refuse a schema that takes too long to be understood', async () => {
    await expect(strict.checkSchema({ anyOf: Array.from({ length: 20_000 }, () => ({})) })).rejects.toThrow(
      /is too intricate/,
    );
    expect(await strict.violations({ type: 'string' }, 'x')).toEqual([]);
  });

  it('of a small schema wait for no large one', async () => {
    // Its thread has to start first.
    await checks.checkSchema({ type: 'string' });
    const ended: string[] = [];
    const check = (name: string, schema: object) =>
      checks.checkSchema(schema).then(() => void ended.push(name));
    const large = { anyOf: Array.from({ length: 3_000 }, (_, at) => ({ const: at })) };
    const all = [
      ...Array.from({ length: 10 }, () => check('large', large)),
      check('small', { type: 'string' }),
    ];
    await Promise.all(all);
    expect(ended.slice(-5)).not.toContain('small');
  });

  it('of patterns that go back end in time, and hold up no other schema', async () => {
    const hostile = checks.violations({ pattern: '^(?=(a+)+$)b' }, `${'a'.repeat(60)}!`);
    const others = await Promise.all([1, 2, 3].map(() => checks.violations({ pattern: '^a+$' }, 'aaa')));
    expect(others).toEqual([[], [], []]);
    expect(await hostile).toEqual([
      { path: '', message: expect.stringContaining('too intricate') as string },
    ]);
    const password = { type: 'string', pattern: '^(?=.*[A-Z]).{8,}$' };
    await checks.checkSchema(password);
    expect(await checks.violations(password, 'Password')).toEqual([]);
    expect(await checks.violations(password, 'password')).toHaveLength(1);
    expect(await checks.withoutAbsentNulls({ additionalProperties: password }, { a: null })).toEqual({});
  });

  it('take memory within bounds, however large their patterns become', async () => {
    const before = process.memoryUsage().rss;
    for (let at = 0; at < 5; at += 1) {
      const large = { title: `${at}`, pattern: `(${'[a-zA-Zäöü]'.repeat(2_000)}){500}` };
      await checks.checkSchema(large);
      expect(await checks.violations(large, 'a')).toHaveLength(1);
    }
    expect(process.memoryUsage().rss - before).toBeLessThan(200_000_000);
  });

  it('asked for at once are all answered, each its own', async () => {
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, at) => checks.violations({ type: 'integer', maximum: 24 }, at)),
    );
    expect(answers.filter((violations) => violations.length === 0)).toHaveLength(25);
  });
});
