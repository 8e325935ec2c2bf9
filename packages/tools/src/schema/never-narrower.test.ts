import { Validator } from '@cfworker/json-schema';
import { loadMcpTools } from '@langchain/mcp-adapters';
import { Ajv2020 } from 'ajv/dist/2020.js';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compileInput } from './compile-input.js';
import { breachesOfPortability } from './portability.test-support.js';

const FORM = process.env['TEST_FORM'];

/** A schema and valid values. */
interface Case {
  readonly schema: object | boolean;
  readonly value: fc.Arbitrary<unknown>;
}

const ajv = new Ajv2020({ strict: false, validateFormats: false, logger: false });

/** Whether a value is valid by two independent validators of draft 2020-12. */
function isValid(schema: object | boolean, value: unknown): boolean {
  return ajv.validate(schema, value) && new Validator(schema, '2020-12').validate(value).valid;
}

/** Highest number of nested arrays in the published schema of any value. Providers require `items` for each array. */
const PUBLISHED_ARRAYS = 3;

function arraysDeep(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return (Array.isArray(value) ? 1 : 0) + Math.max(0, ...Object.values(value).map(arraysDeep));
}

const text = fc.string({ maxLength: 6 });
const scalar = fc.oneof(text, fc.integer(), fc.boolean(), fc.constant(null));
const names = fc.uniqueArray(fc.constantFrom('a', 'b', 'kind', 'größe', 'with space', '__proto__'), {
  minLength: 1,
  maxLength: 3,
});
const constant = (schema: object | boolean, value: fc.Arbitrary<unknown>): fc.Arbitrary<Case> =>
  fc.constant({ schema, value });

const leaf: fc.Arbitrary<Case> = fc.oneof(
  constant({ type: 'string' }, fc.oneof(text, fc.constantFrom('1', 'true', 'null', '{"a":1}', '[1]'))),
  constant(
    { type: 'string', minLength: 2, maxLength: 4, pattern: '^[0-9]+$' },
    fc.stringMatching(/^[0-9]{2,4}$/),
  ),
  constant({ type: 'string', format: 'date', default: '2026-01-02' }, fc.constant('2026-11-23')),
  constant({ type: 'integer', minimum: 1, maximum: 9 }, fc.integer({ min: 1, max: 9 })),
  constant(
    { type: 'number', exclusiveMinimum: 0, multipleOf: 2 },
    fc.integer({ min: 1, max: 9 }).map((n) => 2 * n),
  ),
  constant({ type: 'boolean' }, fc.boolean()),
  constant({ type: 'null' }, fc.constant(null)),
  constant({}, fc.jsonValue({ maxDepth: 2 })),
  constant(true, fc.jsonValue({ maxDepth: 2 })),
  constant({ minLength: 2 }, fc.oneof(fc.integer(), fc.constant('ab'))),
  constant({ minimum: 5 }, fc.oneof(text, fc.constant(7))),
  constant({ type: 'array' }, fc.array(scalar, { maxLength: 3 })),
  constant({ type: 'object' }, fc.dictionary(text, scalar, { maxKeys: 2 })),
  constant(
    { $ref: '#/$defs/tree' },
    fc.constantFrom({ name: 'a' }, { name: 'a', children: [{ name: 'b' }] }),
  ),
  constant(
    { $ref: '#/$defs/shape', description: 'A shape.' },
    fc.constantFrom({ radius: 2 }, { side: 'a', unit: 3 }),
  ),
  fc
    .uniqueArray(fc.oneof(scalar, fc.constantFrom('', 'x', '2', 'hid\u200bden')), {
      minLength: 1,
      maxLength: 4,
    })
    .map((values) => ({ schema: { enum: values }, value: fc.constantFrom(...values) })),
  fc
    .uniqueArray(fc.constantFrom('string', 'number', 'boolean', 'null', 'object', 'array'), {
      minLength: 2,
      maxLength: 4,
    })
    .map((type) => ({ schema: { type }, value: fc.jsonValue({ maxDepth: 1 }) })),
  scalar.map((value) => ({ schema: { const: value }, value: fc.constant(value) })),
);

const { anyCase } = fc.letrec<{ anyCase: Case }>((tie) => {
  const members = fc.tuple(names, fc.array(tie('anyCase'), { minLength: 3, maxLength: 3 }));
  const objects = fc
    .tuple(
      members,
      fc.boolean(),
      fc.constantFrom({}, { additionalProperties: false }, { additionalProperties: { type: 'string' } }),
      fc.boolean(),
    )
    .map(([[keys, cases], isTyped, more, needsFirst]): Case => {
      const entries = keys.map((key, index) => [key, cases[index] as Case] as const);
      const required = needsFirst ? keys.slice(0, 1) : [];
      return {
        schema: {
          ...(isTyped ? { type: 'object' } : {}),
          properties: Object.fromEntries(entries.map(([key, { schema }]) => [key, schema])),
          required,
          ...more,
        },
        value: fc.record(Object.fromEntries(entries.map(([key, { value }]) => [key, value])), {
          requiredKeys: required,
        }),
      };
    });
  return {
    anyCase: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      leaf,
      objects,
      fc.tuple(tie('anyCase'), fc.nat(2)).map(([{ schema, value }, minItems]) => ({
        schema: { type: 'array', items: schema, minItems },
        value: fc.array(value, { minLength: minItems, maxLength: 3 }),
      })),
      fc.tuple(tie('anyCase'), tie('anyCase'), fc.boolean()).map(([first, second, isClosed]) => ({
        schema: {
          type: 'array',
          prefixItems: [first.schema, second.schema],
          ...(isClosed ? { items: false } : {}),
        },
        value: isClosed
          ? fc.tuple(first.value, second.value)
          : fc.tuple(first.value, second.value, scalar).map((items) => items),
      })),
      fc
        .tuple(fc.constantFrom('anyOf', 'oneOf'), fc.array(tie('anyCase'), { minLength: 1, maxLength: 4 }))
        .map(([keyword, cases]) => ({
          schema: { [keyword]: cases.map(({ schema }) => schema), description: 'One of several.' },
          value: fc.oneof(...cases.map(({ value }) => value)),
        })),
      fc.tuple(tie('anyCase'), tie('anyCase')).map(([first, second]) => ({
        schema: { allOf: [first.schema, second.schema] },
        value: fc.oneof(first.value, second.value),
      })),
      tie('anyCase').map(({ schema, value }) => ({
        schema: { allOf: [schema], not: { const: 'never' }, title: 'Words' },
        value,
      })),
    ),
  };
});

const DEFS = {
  tree: {
    type: 'object',
    properties: { name: { type: 'string' }, children: { type: 'array', items: { $ref: '#/$defs/tree' } } },
    required: ['name'],
  },
  shape: {
    oneOf: [
      { type: 'object', properties: { radius: { type: 'number' } }, required: ['radius'] },
      {
        type: 'object',
        properties: { side: { type: 'string' }, unit: { type: 'integer' } },
        required: ['side'],
      },
    ],
  },
};

/** The input that LangChain's MCP adapter sends. The adapter converts the published schema and checks inputs by it. */
async function sentByLangChain(inputSchema: object, input: unknown): Promise<unknown> {
  let sent: unknown;
  const server = {
    listTools: async () => ({ tools: [{ name: 'rented', inputSchema }] }),
    callTool: async ({ arguments: args }: { arguments: { input?: unknown } }) => {
      sent = args.input;
      return { content: [] };
    },
  };
  const [tool] = await loadMcpTools('rentals', server as never);
  await tool?.invoke({ input });
  return sent;
}

/** A creator's schema and an input that it takes. */
const taken = anyCase
  .chain(({ schema, value }) => fc.tuple(fc.constant(schema), value))
  .map(([schema, value]) => ({
    creators: { type: 'object', properties: { it: schema }, required: ['it'], $defs: DEFS },
    input: { it: value },
  }))
  .filter(({ creators, input }) => isValid(creators, input) && arraysDeep(input.it) <= PUBLISHED_ARRAYS);

describe('a published schema', () => {
  it('takes every value that the creator takes, and passes it on unchanged [ADP-10]', () => {
    fc.assert(
      fc.property(taken, ({ creators, input }) => {
        const { schema: published, read } = compileInput(creators);
        expect(breachesOfPortability(published)).toEqual([]);
        expect([isValid(published, input), published]).toEqual([true, published]);
        expect(read(input)).toEqual(input);
      }),
      // A thousand cases take ten seconds, on a slow and busy machine twenty.
      { numRuns: FORM === 'full' ? 5_000 : FORM === 'sample' ? 750 : 300, seed: 7 },
    );
  }, 240_000);

  it('takes it in LangChain for JavaScript, which checks by a converted schema, and sends it on unchanged [ADP-10]', async () => {
    await fc.assert(
      fc.asyncProperty(taken, async ({ creators, input }) => {
        const { schema: published } = compileInput(creators);
        const tool = { type: 'object', properties: { input: published }, required: ['input'] };
        await expect(sentByLangChain(tool, input)).resolves.toEqual(input);
      }),
      { numRuns: FORM === 'full' ? 3_000 : FORM === 'sample' ? 500 : 200, seed: 7 },
    );
  }, 240_000);
});
