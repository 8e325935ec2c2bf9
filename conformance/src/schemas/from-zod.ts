/** Schemas that the two versions of zod make. */
import * as z4 from 'zod';
import { z as z3 } from 'zod/v3';
import { zodToJsonSchema } from 'zod-to-json-schema';
import type { CorpusEntry } from './entry.js';

type Case<S> = readonly [name: string, schema: S, ...examples: unknown[]];

const tree4: z4.ZodType = z4.lazy(() =>
  z4.object({ name: z4.string(), children: z4.array(tree4).optional(), parent: tree4.nullable() }),
);
const FOUR: readonly Case<z4.ZodType>[] = [
  [
    'a flat form',
    z4.object({ name: z4.string().min(1), age: z4.int().positive().optional() }),
    { name: 'Ada', age: 36 },
    { name: 'B' },
  ],
  [
    'a strict object',
    z4.strictObject({ url: z4.url(), depth: z4.number().default(1) }),
    { url: 'https://example.com' },
  ],
  [
    'a loose object',
    z4.looseObject({ id: z4.uuid() }),
    { id: '0b6f3f6e-2f53-4c8e-9d35-2a3cf2f3a0f1', more: [1] },
  ],
  ['a record', z4.object({ prices: z4.record(z4.string(), z4.number()) }), { prices: { a: 1, b: 2.5 } }],
  [
    'a record of an enum',
    z4.object({ hours: z4.partialRecord(z4.enum(['mon', 'tue']), z4.string()) }),
    { hours: { mon: '9-5' } },
  ],
  [
    'a tuple',
    z4.object({ range: z4.tuple([z4.number(), z4.number()]).rest(z4.string()) }),
    { range: [1, 2, 'x'] },
  ],
  [
    'a discriminated union',
    z4.discriminatedUnion('by', [
      z4.object({ by: z4.literal('id'), id: z4.int() }),
      z4.object({ by: z4.literal('name'), name: z4.string() }),
    ]),
    { by: 'id', id: 3 },
    { by: 'name', name: 'x' },
  ],
  [
    'a plain union',
    z4.object({ when: z4.union([z4.iso.date(), z4.number(), z4.null()]) }),
    { when: '2026-01-02' },
    { when: 4 },
    { when: null },
  ],
  [
    'an intersection',
    z4.intersection(z4.object({ a: z4.string() }), z4.object({ b: z4.boolean() })),
    { a: 'x', b: true },
  ],
  [
    'recursion',
    z4.object({ root: tree4 }),
    { root: { name: 'a', parent: null, children: [{ name: 'b', parent: { name: 'a', parent: null } }] } },
  ],
  [
    'formats',
    z4.object({ mail: z4.email(), at: z4.iso.datetime(), ip: z4.ipv4(), b: z4.base64() }),
    { mail: 'ada@example.com', at: '2026-03-14T09:26:53Z', ip: '192.0.2.1', b: 'aGk=' },
  ],
  [
    'literals',
    z4.object({ a: z4.literal([1, 'x', true]), n: z4.null() }),
    { a: 1, n: null },
    { a: 'x', n: null },
  ],
  [
    'defaults and catch',
    z4.object({ size: z4.enum(['s', 'm']).default('s'), any: z4.any(), un: z4.unknown() }),
    { any: { deep: [1] }, un: 'text' },
    { any: 3, un: null, size: 'm' },
  ],
  ['a template literal', z4.object({ ref: z4.templateLiteral(['INV-', z4.number()]) }), { ref: 'INV-12' }],
  [
    'numbers',
    z4.object({ n: z4.number().gt(0).lt(10), m: z4.number().multipleOf(5), i: z4.int32(), f: z4.float64() }),
    { n: 1.5, m: 15, i: -3, f: 2.5 },
  ],
  [
    'lists',
    z4.object({ ids: z4.array(z4.string()).min(1).max(3), pairs: z4.array(z4.array(z4.number())) }),
    { ids: ['a'], pairs: [[1], []] },
  ],
  [
    'a readonly branded pipe',
    z4.object({
      code: z4
        .string()
        .regex(/^[A-Z]+$/)
        .brand('Code')
        .readonly(),
    }),
    { code: 'ABC' },
  ],
  [
    'nullable members',
    z4.object({
      a: z4.string().nullable(),
      b: z4.number().nullish(),
      c: z4.object({ d: z4.boolean().nullable() }),
    }),
    { a: null, b: null, c: { d: null } },
    { a: 'x', c: { d: true } },
  ],
];

const tree3: z3.ZodType = z3.lazy(() => z3.object({ value: z3.number(), next: tree3.optional() }));
const THREE: readonly Case<z3.ZodType>[] = [
  [
    'a flat form',
    z3.object({ name: z3.string().min(1), age: z3.number().int().positive().optional() }),
    { name: 'Ada', age: 36 },
  ],
  [
    'a strict object',
    z3.object({ url: z3.string().url(), depth: z3.number().default(1) }).strict(),
    { url: 'https://example.com' },
  ],
  ['a passthrough object', z3.object({ id: z3.string() }).passthrough(), { id: 'x', more: { a: 1 } }],
  ['a record', z3.object({ prices: z3.record(z3.number()) }), { prices: { a: 1 } }],
  [
    'an effect',
    z3.object({ n: z3.string().transform(Number), m: z3.preprocess(String, z3.string()) }),
    { n: '3', m: 'x' },
  ],
  [
    'a discriminated union',
    z3.discriminatedUnion('by', [
      z3.object({ by: z3.literal('id'), id: z3.number() }),
      z3.object({ by: z3.literal('name'), name: z3.string() }),
    ]),
    { by: 'id', id: 3 },
    { by: 'name', name: 'x' },
  ],
  ['a plain union', z3.object({ when: z3.union([z3.string(), z3.number()]) }), { when: 'now' }, { when: 4 }],
  ['an intersection', z3.object({ a: z3.string() }).and(z3.object({ b: z3.boolean() })), { a: 'x', b: true }],
  ['recursion', z3.object({ first: tree3 }), { first: { value: 1, next: { value: 2, next: { value: 3 } } } }],
  [
    'formats',
    z3.object({ mail: z3.string().email(), at: z3.string().datetime(), id: z3.string().uuid() }),
    { mail: 'ada@example.com', at: '2026-03-14T09:26:53Z', id: '0b6f3f6e-2f53-4c8e-9d35-2a3cf2f3a0f1' },
  ],
  ['a native enum', z3.object({ n: z3.nativeEnum({ a: 1, b: 'two' } as const) }), { n: 1 }, { n: 'two' }],
  [
    'a set and a list that is not empty',
    z3.object({ s: z3.set(z3.string()), l: z3.array(z3.boolean()).nonempty() }),
    { s: ['x'], l: [true] },
  ],
  [
    'dates and big numbers',
    z3.object({ at: z3.date(), n: z3.bigint() }),
    { at: '2026-03-14T09:26:53Z', n: 12 },
  ],
  ['any and unknown', z3.object({ any: z3.any(), un: z3.unknown() }), { any: [1, 'x'], un: { a: null } }],
  [
    'nullable members',
    z3.object({ a: z3.string().nullable(), b: z3.number().nullish() }),
    { a: null, b: null },
    { a: 'x' },
  ],
  [
    'shared parts',
    (() => {
      const address = z3.object({ street: z3.string(), zip: z3.string().regex(/^[0-9]{5}$/) });
      return z3.object({ from: address, to: address });
    })(),
    { from: { street: 'a', zip: '12345' }, to: { street: 'b', zip: '54321' } },
  ],
  ['a catchall', z3.object({ id: z3.string() }).catchall(z3.number()), { id: 'a', x: 1, y: 2 }],
];

/** Makes schemas of zod 4 with `z.toJSONSchema`, and of zod 3 with `zod-to-json-schema`. */
export function schemasFromZod(): CorpusEntry[] {
  return [
    ...FOUR.map(([name, schema, ...examples]) => ({
      name: `zod 4, ${name}`,
      schema: z4.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }),
      examples,
    })),
    ...THREE.map(([name, schema, ...examples]) => ({
      name: `zod 3, ${name}`,
      schema: zodToJsonSchema(schema as never),
      examples,
    })),
  ];
}
