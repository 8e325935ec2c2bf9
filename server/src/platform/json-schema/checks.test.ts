import { afterAll, describe, expect, it } from 'vitest';
import { InvalidSchemaError } from './compile.js';
import { createSchemaChecks } from './checks.js';

const checks = createSchemaChecks({ schema: 20_000, value: 2_000 });
const strict = createSchemaChecks({ schema: 1, value: 20_000 });
afterAll(async () => {
  await Promise.all([checks.close(), strict.close()]);
});

/** Takes minutes on any machine: each of many long names is matched against each of many patterns of many states. */
const HOSTILE = {
  type: 'object',
  patternProperties: Object.fromEntries(
    Array.from({ length: 300 }, (_, at) => [`^(x?y?){200}${at}$`, { type: 'string' }]),
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
    const late = createSchemaChecks({ schema: 0, value: 0 });
    expect(await late.violations({}, { a: [1] })).toEqual([]);
    expect(await late.violations({ type: 'string' }, 'text')).not.toEqual([]);
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
    await expect(strict.checkSchema({ type: 'string', title: 'new' })).rejects.toThrow(/is too intricate/);
    expect(await strict.violations({ type: 'string' }, 'x')).toEqual([]);
  });

  it('asked for at once are all answered, each its own', async () => {
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, at) => checks.violations({ type: 'integer', maximum: 24 }, at)),
    );
    expect(answers.filter((violations) => violations.length === 0)).toHaveLength(25);
  });
});
