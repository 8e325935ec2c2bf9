/** Schemas of developers' data, written by hand: recursion, tags, tuples, names that collide with keywords. */
import type { CorpusEntry } from './entry.js';

const text = { type: 'string' };
const position = {
  type: 'array',
  prefixItems: [{ type: 'number' }, { type: 'number' }],
  items: { type: 'number' },
  minItems: 2,
  maxItems: 3,
};

function nested(depth: number): { schema: object; example: unknown } {
  if (depth === 0) return { schema: { type: 'string' }, example: 'core' };
  const inner = nested(depth - 1);
  return {
    schema: { type: 'object', properties: { inner: inner.schema }, required: ['inner'] },
    example: { inner: inner.example },
  };
}

const deep = nested(9);
const deeper = nested(20);

export const WRITTEN_TECHNICAL: readonly CorpusEntry[] = [
  {
    name: 'an issue of a code host',
    schema: {
      type: 'object',
      properties: {
        owner: text,
        repo: text,
        title: text,
        labels: {
          type: 'array',
          items: {
            oneOf: [
              text,
              { type: 'object', properties: { name: text, color: { type: ['string', 'null'] } } },
            ],
          },
        },
        milestone: { oneOf: [text, { type: 'integer' }, { type: 'null' }] },
        assignees: { type: 'array', items: text },
      },
      required: ['owner', 'repo', 'title'],
    },
    examples: [
      {
        owner: 'a',
        repo: 'b',
        title: 'c',
        labels: ['bug', { name: 'x', color: 'f00' }],
        milestone: 3,
        assignees: [],
      },
      { owner: 'a', repo: 'b', title: 'c', milestone: null },
    ],
  },
  {
    name: 'GeoJSON',
    schema: {
      type: 'object',
      properties: {
        type: { const: 'Feature' },
        properties: { type: ['object', 'null'] },
        geometry: {
          oneOf: [
            {
              type: 'object',
              properties: { type: { const: 'Point' }, coordinates: position },
              required: ['type', 'coordinates'],
            },
            {
              type: 'object',
              properties: {
                type: { const: 'Polygon' },
                coordinates: { type: 'array', items: { type: 'array', items: position, minItems: 4 } },
              },
              required: ['type', 'coordinates'],
            },
          ],
        },
      },
      required: ['type', 'properties', 'geometry'],
    },
    examples: [
      { type: 'Feature', properties: null, geometry: { type: 'Point', coordinates: [1, 2] } },
      {
        type: 'Feature',
        properties: { name: 'x' },
        geometry: {
          type: 'Polygon',
          coordinates: [
            [
              [0, 0],
              [1, 0],
              [1, 1],
              [0, 0],
            ],
          ],
        },
      },
    ],
  },
  {
    name: 'JSON Patch',
    schema: {
      type: 'object',
      properties: {
        patch: {
          type: 'array',
          items: {
            oneOf: [
              {
                type: 'object',
                properties: {
                  op: { enum: ['add', 'replace', 'test'] },
                  path: { type: 'string', format: 'json-pointer' },
                  value: {},
                },
                required: ['op', 'path', 'value'],
              },
              {
                type: 'object',
                properties: { op: { const: 'remove' }, path: text },
                required: ['op', 'path'],
              },
            ],
          },
        },
      },
      required: ['patch'],
    },
    examples: [
      {
        patch: [
          { op: 'add', path: '/a', value: { b: 1 } },
          { op: 'remove', path: '/c' },
          { op: 'test', path: '/d', value: 'text' },
          { op: 'replace', path: '/e', value: 3 },
        ],
      },
    ],
  },
  {
    name: 'an expression tree',
    schema: {
      $defs: {
        expr: {
          oneOf: [
            {
              type: 'object',
              properties: { kind: { const: 'literal' }, value: { type: ['number', 'string'] } },
              required: ['kind', 'value'],
            },
            {
              type: 'object',
              properties: {
                kind: { const: 'call' },
                name: text,
                args: { type: 'array', items: { $ref: '#/$defs/expr' } },
              },
              required: ['kind', 'name', 'args'],
            },
          ],
        },
      },
      type: 'object',
      properties: { expression: { $ref: '#/$defs/expr' } },
      required: ['expression'],
    },
    examples: [
      {
        expression: {
          kind: 'call',
          name: 'sum',
          args: [
            { kind: 'literal', value: 1 },
            { kind: 'call', name: 'neg', args: [{ kind: 'literal', value: 'x' }] },
          ],
        },
      },
    ],
  },
  {
    name: 'a linked list by #',
    schema: {
      type: 'object',
      properties: { value: { type: 'integer' }, next: { $ref: '#' } },
      required: ['value'],
    },
    examples: [{ value: 1, next: { value: 2, next: { value: 3 } } }],
  },
  {
    name: 'two definitions that contain each other',
    schema: {
      $defs: {
        folder: {
          type: 'object',
          properties: { name: text, files: { type: 'array', items: { $ref: '#/$defs/file' } } },
          required: ['name'],
        },
        file: {
          type: 'object',
          properties: { path: text, parent: { $ref: '#/$defs/folder' } },
          required: ['path'],
        },
      },
      $ref: '#/$defs/folder',
    },
    examples: [{ name: 'a', files: [{ path: 'b', parent: { name: 'c', files: [{ path: 'd' }] } }] }],
  },
  {
    name: 'members named as keywords',
    schema: {
      type: 'object',
      properties: {
        type: text,
        properties: { type: 'object', properties: { required: { type: 'boolean' } } },
        required: { type: 'array', items: text },
        enum: text,
        $ref: text,
        items: { type: 'number' },
        const: text,
      },
      required: ['type', '$ref'],
    },
    examples: [
      {
        type: 'x',
        properties: { required: true },
        required: ['y'],
        enum: 'z',
        $ref: '#/a',
        items: 3,
        const: 'c',
      },
    ],
  },
  {
    name: 'members that every object inherits',
    schema: {
      type: 'object',
      properties: { constructor: text, toString: text, hasOwnProperty: { type: 'number' } },
      required: ['constructor'],
    },
    examples: [{ constructor: 'x', toString: 'y', hasOwnProperty: 3 }],
  },
  {
    name: 'names that no provider takes',
    schema: {
      type: 'object',
      properties: { größe: { type: 'number' }, 'a b': text, 'x/y~z': text, ['n'.repeat(80)]: text, '': text },
      required: ['größe', ''],
    },
    examples: [{ größe: 1, 'a b': 'c', 'x/y~z': 'd', ['n'.repeat(80)]: 'e', '': 'f' }],
  },
  {
    name: 'patterns that hang engines',
    schema: {
      type: 'object',
      properties: {
        a: { type: 'string', pattern: '^(a+)+$' },
        b: { type: 'string', pattern: '^(([a-z])+.)+[A-Z]([a-z])+$' },
        c: { type: 'array', items: { type: 'string', pattern: '(x+x+)+y' } },
      },
      patternProperties: { '^(z|zz)+$': { type: 'string' } },
    },
    examples: [{ a: 'aaa', b: 'ab-Cd', c: ['xxy'], zzz: 'q' }],
  },
  { name: 'nine levels', schema: deep.schema, examples: [deep.example] },
  { name: 'twenty levels', schema: deeper.schema, examples: [deeper.example] },
  {
    name: 'a matrix',
    schema: {
      type: 'object',
      properties: {
        m: { type: 'array', items: { type: 'array', items: { type: 'array', items: { type: 'number' } } } },
      },
      required: ['m'],
    },
    examples: [{ m: [[[1, 2], []], []] }],
  },
  {
    name: 'lists without items, and of anything',
    schema: {
      type: 'object',
      properties: {
        a: { type: 'array' },
        b: { type: 'array', items: {} },
        c: { type: 'array', items: true },
        d: { items: { type: 'integer' } },
      },
    },
    examples: [{ a: [1, 'x', null], b: [{ y: 1 }], c: [true], d: [4] }],
  },
  {
    name: 'tuples of the older drafts',
    schema: {
      type: 'object',
      properties: {
        pair: { type: 'array', prefixItems: [text, { type: 'integer' }], minItems: 2 },
        rest: { type: 'array', prefixItems: [{ const: 'v1' }], items: text },
      },
      required: ['pair'],
    },
    examples: [{ pair: ['a', 1], rest: ['v1', 'b', 'c'] }],
  },
  {
    name: 'constants of every type',
    schema: {
      type: 'object',
      properties: {
        s: { const: 'x' },
        n: { const: 3 },
        b: { const: false },
        z: { const: null },
        o: { const: { a: [1] } },
        l: { const: [1, 2] },
      },
      required: ['s', 'n', 'b', 'z'],
    },
    examples: [{ s: 'x', n: 3, b: false, z: null, o: { a: [1] }, l: [1, 2] }],
  },
  {
    name: 'enumerations of objects',
    schema: {
      type: 'object',
      properties: { preset: { enum: [{ w: 1 }, { w: 2 }, 'custom', null] } },
      required: ['preset'],
    },
    examples: [{ preset: { w: 2 } }, { preset: 'custom' }, { preset: null }],
  },
  {
    name: 'a query language',
    schema: {
      $defs: {
        filter: {
          anyOf: [
            {
              type: 'object',
              properties: { and: { type: 'array', items: { $ref: '#/$defs/filter' } } },
              required: ['and'],
              additionalProperties: false,
            },
            {
              type: 'object',
              properties: {
                field: text,
                op: { enum: ['=', '<', 'in'] },
                value: { anyOf: [text, { type: 'number' }, { type: 'array', items: text }] },
              },
              required: ['field', 'op', 'value'],
              additionalProperties: false,
            },
          ],
        },
      },
      type: 'object',
      properties: {
        where: { $ref: '#/$defs/filter' },
        limit: { type: 'integer', minimum: 1, maximum: 1000, default: 10 },
      },
    },
    examples: [
      {
        where: {
          and: [
            { field: 'a', op: '=', value: 1 },
            { field: 'b', op: 'in', value: ['x'] },
          ],
        },
        limit: 5,
      },
      { where: { field: 'a', op: '<', value: 'z' } },
    ],
  },
  {
    name: 'dependent members',
    schema: {
      type: 'object',
      properties: { card: { type: 'number' }, billing: text },
      dependentRequired: { card: ['billing'] },
      dependentSchemas: { card: { properties: { cvv: text } } },
    },
    examples: [{ card: 1, billing: 'x', cvv: '1' }, { billing: 'y' }],
  },
  {
    name: 'unevaluated members, and a reference beside keywords',
    schema: {
      $defs: { base: { type: 'object', properties: { id: text }, required: ['id'] } },
      $ref: '#/$defs/base',
      properties: { extra: { type: 'number' } },
      unevaluatedProperties: false,
    },
    examples: [{ id: 'a', extra: 2 }],
  },
];
