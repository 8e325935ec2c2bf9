/** Schemas of business documents, written by hand in the styles of common schema tools. */
import type { CorpusEntry } from './entry.js';

const money = {
  type: 'object',
  properties: {
    amount: { type: 'string', pattern: '^-?\\d+(\\.\\d{1,2})?$' },
    currency: { type: 'string', enum: ['EUR', 'USD', 'GBP'] },
  },
  required: ['amount', 'currency'],
  additionalProperties: false,
};
const text = { type: 'string' };

export const WRITTEN_BUSINESS: readonly CorpusEntry[] = [
  {
    name: 'an invoice, with definitions',
    schema: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      $id: 'https://example.com/invoice.json',
      title: 'Invoice',
      type: 'object',
      $defs: {
        money,
        line: {
          type: 'object',
          properties: {
            text,
            total: { $ref: '#/$defs/money' },
            quantity: { type: 'number', exclusiveMinimum: 0 },
          },
          required: ['text', 'total'],
        },
      },
      properties: {
        number: { type: 'string', examples: ['2026-0001'] },
        issued: { type: 'string', format: 'date' },
        lines: { type: 'array', items: { $ref: '#/$defs/line' }, minItems: 1 },
        discount: { $ref: '#/$defs/money' },
      },
      required: ['number', 'issued', 'lines'],
    },
    examples: [
      {
        number: '7',
        issued: '2026-01-31',
        lines: [{ text: 'Work', total: { amount: '10.50', currency: 'EUR' }, quantity: 2 }],
      },
      {
        number: '8',
        issued: '2026-02-28',
        lines: [{ text: 'x', total: { amount: '1', currency: 'USD' } }],
        discount: { amount: '-1', currency: 'USD' },
      },
    ],
  },
  {
    name: 'a Pydantic model',
    schema: {
      $defs: {
        Kind: { enum: ['person', 'company'], title: 'Kind', type: 'string' },
        Address: {
          properties: {
            street: { title: 'Street', type: 'string' },
            country: { default: 'DE', title: 'Country', type: 'string' },
          },
          required: ['street'],
          title: 'Address',
          type: 'object',
        },
      },
      properties: {
        name: { title: 'Name', type: 'string' },
        kind: { $ref: '#/$defs/Kind' },
        address: { anyOf: [{ $ref: '#/$defs/Address' }, { type: 'null' }], default: null },
        tags: {
          anyOf: [{ items: { type: 'string' }, type: 'array' }, { type: 'null' }],
          default: null,
          title: 'Tags',
        },
        score: { anyOf: [{ type: 'integer' }, { type: 'number' }, { type: 'string' }], title: 'Score' },
      },
      required: ['name', 'kind', 'score'],
      title: 'Customer',
      type: 'object',
    },
    examples: [
      { name: 'A', kind: 'person', score: 3 },
      { name: 'B', kind: 'company', score: 'AAA', address: null, tags: null },
      { name: 'C', kind: 'company', score: 1.5, address: { street: 'x' }, tags: ['a'] },
    ],
  },
  {
    name: 'an OpenAPI 3.0 component',
    schema: {
      type: 'object',
      properties: {
        id: { type: 'integer', format: 'int64', example: 10 },
        note: { type: 'string', nullable: true, example: 'x' },
        kind: { type: 'string', 'x-enum-varnames': ['A'], enum: ['a', 'b'] },
      },
      required: ['id'],
      example: { id: 1 },
      discriminator: { propertyName: 'kind' },
    },
    examples: [{ id: 12, note: 'x', kind: 'a' }],
  },
  {
    name: 'draft 7, with definitions and a conditional',
    schema: JSON.parse(
      '{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","definitions":{"iban":{"type":"string","pattern":"^[A-Z]{2}[0-9]{2}"}},' +
        '"properties":{"method":{"enum":["sepa","card"]},"iban":{"$ref":"#/definitions/iban"},"card":{"type":"string"}},"required":["method"],' +
        '"if":{"properties":{"method":{"const":"sepa"}}},"then":{"required":["iban"]},"else":{"required":["card"]}}',
    ) as object,
    examples: [
      { method: 'sepa', iban: 'DE02120300000000202051' },
      { method: 'card', card: '4242' },
    ],
  },
  {
    name: 'a payment event with an expandable member',
    schema: {
      type: 'object',
      properties: {
        object: { const: 'event' },
        data: {
          type: 'object',
          properties: {
            customer: {
              anyOf: [
                { type: 'string', maxLength: 5000 },
                { type: 'object', properties: { id: text, deleted: { type: 'boolean' } }, required: ['id'] },
              ],
            },
            amount: { type: 'integer', minimum: 0 },
          },
          required: ['customer', 'amount'],
        },
        livemode: { type: 'boolean' },
      },
      required: ['object', 'data'],
    },
    examples: [
      { object: 'event', data: { customer: 'cus_1', amount: 5 } },
      { object: 'event', data: { customer: { id: 'cus_1', deleted: true }, amount: 0 }, livemode: false },
    ],
  },
  {
    name: 'at least one of two members',
    schema: {
      type: 'object',
      properties: { email: { type: 'string', format: 'email' }, phone: { type: 'string' } },
      anyOf: [{ required: ['email'] }, { required: ['phone'] }],
    },
    examples: [{ email: 'ada@example.com' }, { phone: '1' }, { email: 'a@example.com', phone: '2' }],
  },
  {
    name: 'exactly one of two members, with not',
    schema: {
      type: 'object',
      properties: { a: text, b: text },
      oneOf: [
        { required: ['a'], not: { required: ['b'] } },
        { required: ['b'], not: { required: ['a'] } },
      ],
    },
    examples: [{ a: 'x' }, { b: 'y' }],
  },
  {
    name: 'a résumé',
    schema: {
      type: 'object',
      properties: {
        basics: {
          type: 'object',
          properties: {
            name: text,
            profiles: {
              type: 'array',
              items: {
                type: 'object',
                properties: { network: text, url: { type: 'string', format: 'uri' } },
              },
            },
          },
        },
        work: {
          type: 'array',
          items: {
            type: 'object',
            properties: {
              from: { type: 'string', format: 'date' },
              to: { type: ['string', 'null'], format: 'date' },
              highlights: { type: 'array', items: text },
            },
            required: ['from', 'to'],
          },
        },
      },
      required: ['basics'],
    },
    examples: [
      {
        basics: { name: 'A', profiles: [{ network: 'x', url: 'https://example.com' }] },
        work: [{ from: '2020-01-01', to: null, highlights: [] }],
      },
    ],
  },
  {
    name: 'a spreadsheet: rows of cells of any type',
    schema: {
      type: 'object',
      properties: {
        columns: { type: 'array', items: text },
        rows: { type: 'array', items: { type: 'array', items: { type: ['string', 'number', 'boolean'] } } },
      },
      required: ['columns', 'rows'],
    },
    examples: [
      {
        columns: ['a', 'b'],
        rows: [
          ['x', 1],
          ['y', true],
        ],
      },
    ],
  },
  {
    name: 'a contract as text or as a reference',
    schema: {
      oneOf: [
        { type: 'string', minLength: 20 },
        {
          type: 'object',
          properties: { url: { type: 'string', format: 'uri' } },
          required: ['url'],
          additionalProperties: false,
        },
      ],
    },
    examples: ['This agreement is made between two parties.', { url: 'https://example.com/contract' }],
  },
  {
    name: 'plain text',
    schema: { type: 'string', description: 'The text to translate.' },
    examples: ['Guten Tag', '{"looks": "like JSON"}', ''],
  },
  { name: 'anything', schema: {}, examples: [{ a: [1, { b: null }] }, 'words', {}] },
  {
    name: 'an object of no described shape',
    schema: { type: 'object' },
    examples: [{ a: 1, b: [true], c: { d: 'x' } }, {}],
  },
  {
    name: 'a root that only allows by reference',
    schema: {
      $ref: '#/$defs/Root',
      $defs: { Root: { type: 'object', properties: { q: text }, required: ['q'] } },
    },
    examples: [{ q: 'x' }],
  },
  {
    name: 'translations by language',
    schema: {
      type: 'object',
      properties: {
        translations: {
          type: 'object',
          propertyNames: { pattern: '^[a-z]{2}$' },
          additionalProperties: {
            type: 'object',
            properties: { title: text, body: text },
            required: ['title'],
          },
          minProperties: 1,
        },
      },
      required: ['translations'],
    },
    examples: [{ translations: { de: { title: 'Titel' }, en: { title: 'Title', body: 'b' } } }],
  },
  {
    name: 'a medical observation',
    schema: {
      type: 'object',
      properties: {
        resourceType: { const: 'Observation' },
        code: {
          type: 'object',
          properties: {
            coding: {
              type: 'array',
              items: {
                type: 'object',
                properties: { system: { type: 'string', format: 'uri' }, code: text },
              },
            },
          },
        },
        valueQuantity: { type: 'object', properties: { value: { type: 'number' }, unit: text } },
        valueString: text,
        component: { type: 'array', items: { $ref: '#' } },
      },
      required: ['resourceType', 'code'],
      oneOf: [{ required: ['valueQuantity'] }, { required: ['valueString'] }, { required: ['component'] }],
    },
    examples: [
      {
        resourceType: 'Observation',
        code: { coding: [{ system: 'http://loinc.org', code: '1' }] },
        valueQuantity: { value: 3.5, unit: 'kg' },
      },
      {
        resourceType: 'Observation',
        code: {},
        component: [{ resourceType: 'Observation', code: {}, valueString: 'x' }],
      },
    ],
  },
  {
    name: 'every country',
    schema: {
      type: 'object',
      properties: {
        country: {
          type: 'string',
          enum: Array.from({ length: 26 * 26 }, (_, i) =>
            String.fromCharCode(65 + Math.floor(i / 26), 65 + (i % 26)),
          ),
        },
      },
      required: ['country'],
    },
    examples: [{ country: 'DE' }, { country: 'ZZ' }],
  },
  {
    name: 'time zones, in a list of unique values',
    schema: {
      type: 'object',
      properties: {
        zones: {
          type: 'array',
          uniqueItems: true,
          items: { enum: Array.from({ length: 420 }, (_, i) => `Area/City_${i}`) },
        },
      },
    },
    examples: [{ zones: ['Area/City_1', 'Area/City_419'] }],
  },
  {
    name: 'a form of many fields',
    schema: {
      type: 'object',
      properties: Object.fromEntries(
        Array.from({ length: 120 }, (_, i) => [
          `field_${i}`,
          { type: i % 2 ? 'string' : 'number', description: `Field ${i} of the form.` },
        ]),
      ),
      required: ['field_0', 'field_1'],
    },
    examples: [{ field_0: 1, field_1: 'x', field_118: 2, field_119: 'y' }],
  },
  {
    name: 'bounds that no provider can hold',
    schema: {
      type: 'object',
      properties: {
        a: { type: 'string', maxLength: 1e21 },
        b: { type: 'array', items: text, maxItems: 1e30 },
        c: { type: 'number', minimum: -1.7e308, maximum: 1.7e308 },
        d: { type: 'string', minLength: 2.0 },
      },
    },
    examples: [{ a: 'x', b: ['y'], c: -5, d: 'zz' }],
  },
];
