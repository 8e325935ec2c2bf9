import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import * as z3 from 'zod/v3';
import { jsonSchemaOf } from './json-schema-of.js';
import { schemaCheck, type AgentSchema } from './schema-check.js';

const FOUR = z.strictObject({ text: z.string().min(1).describe('The text.'), times: z.int().default(1) });
const THREE = z3
  .object({ text: z3.string().min(1).describe('The text.'), times: z3.number().int().default(1) })
  .strict();

describe('a schema of a creator', () => {
  it.each([
    ['zod 4', FOUR as AgentSchema],
    ['zod 3', THREE as unknown as AgentSchema],
  ])('of %s is converted to JSON Schema, and checks the same [REG-127]', async (_, schema) => {
    expect(await jsonSchemaOf(schema, 'input')).toMatchObject({
      type: 'object',
      properties: {
        text: { type: 'string', minLength: 1, description: 'The text.' },
        times: { type: 'integer', default: 1 },
      },
      required: ['text'],
      additionalProperties: false,
    });
    expect(await schemaCheck(schema, 'input')({ text: 'a' })).toEqual({ text: 'a', times: 1 });
    await expect(schemaCheck(schema, 'input')({ text: 1 })).rejects.toThrow(/^input\.text: /);
  });

  it('is never converted to an empty schema, which accepts everything [REG-127]', async () => {
    await expect(jsonSchemaOf(z.any(), 'input')).rejects.toThrow('accepts everything');
    await expect(jsonSchemaOf(z.map(z.string(), z.string()), 'input')).rejects.toThrow('JSON Schema');
    const valibot: AgentSchema = { '~standard': { version: 1, validate: (value: unknown) => ({ value }) } };
    await expect(jsonSchemaOf(valibot, 'input')).rejects.toThrow('Write the schema itself');
  });

  it('of a library with a JSON Schema by Standard Schema is that JSON Schema', async () => {
    const told = { input: () => ({ type: 'string' }), output: () => ({ type: 'number' }) };
    const standard = { version: 1, validate: (value: unknown) => ({ value }), jsonSchema: told } as const;
    expect(await jsonSchemaOf({ '~standard': standard }, 'output')).toEqual({ type: 'number' });
    expect(await jsonSchemaOf({ type: 'boolean' }, 'output')).toEqual({ type: 'boolean' });
  });

  it('of zod before 3.24 is still checked [REG-127]', async () => {
    const older = {
      safeParseAsync: (value: unknown) => THREE.safeParseAsync(value),
    } as unknown as AgentSchema;
    expect(await schemaCheck(older, 'input')({ text: 'a' })).toEqual({ text: 'a', times: 1 });
    await expect(schemaCheck(older, 'input')({})).rejects.toThrow('input.text: ');
  });
});
