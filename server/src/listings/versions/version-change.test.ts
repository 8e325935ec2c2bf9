import { describe, expect, it } from 'vitest';
import { versionChange } from './version-change.js';

const TEXT = { type: 'string' };
const object = (properties: object, rest: object = {}) => ({ type: 'object', properties, ...rest });
const kindOf = (input: [object, object], output: [object, object] = [TEXT, TEXT]) =>
  versionChange(
    { input_schema: input[0], output_schema: output[0] },
    { input_schema: input[1], output_schema: output[1] },
  );
const SAME: [object, object] = [TEXT, TEXT];

describe('an update is compatible where', () => {
  it.each<[string, [object, object], [object, object]?]>([
    ['nothing of the schemas changes', SAME],
    ['a description changes', [object({ a: TEXT }), object({ a: { ...TEXT, description: 'Better.' } })]],
    ['the input gets an optional member', [object({ a: TEXT }), object({ a: TEXT, b: TEXT })]],
    [
      'a required member of the input becomes optional',
      [object({ a: TEXT }, { required: ['a'] }), object({ a: TEXT })],
    ],
    ['the input takes another type too', [TEXT, { type: ['string', 'object'] }]],
    ['an integer may be any number', [object({ a: { type: 'integer' } }), object({ a: { type: 'number' } })]],
    ['the input takes another word', [{ enum: ['a'] }, { enum: ['a', 'b'] }]],
    ['the input takes anything', [object({ a: TEXT }), {}]],
    [
      'the output gets a member',
      SAME,
      [object({ a: TEXT }), object({ a: TEXT, b: TEXT }, { required: ['b'] })],
    ],
    ['the output has fewer words', SAME, [{ enum: ['a', 'b'] }, { enum: ['a'] }]],
    ['a limit of the input goes', [{ ...TEXT, maxLength: 5 }, TEXT]],
  ])('%s [REG-77]', (_, input, output) => {
    expect(kindOf(input, output)).toEqual({ kind: 'compatible', reasons: [] });
  });
});

describe('an update is breaking where', () => {
  it.each<[string, [object, object], [object, object] | undefined, string]>([
    [
      'the input requires a member',
      [object({ a: TEXT }), object({ a: TEXT, b: TEXT }, { required: ['b'] })],
      undefined,
      'input_schema.required: b',
    ],
    ['the input has another type', [TEXT, object({})], undefined, 'input_schema.type'],
    [
      'a member of the input has another type',
      [object({ a: TEXT }), object({ a: { type: 'number' } })],
      undefined,
      'input_schema.properties.a.type',
    ],
    [
      'a member is not taken any more',
      [object({ a: TEXT, b: TEXT }), object({ a: TEXT }, { additionalProperties: false })],
      undefined,
      'input_schema.properties.b',
    ],
    ['the input takes a word less', [{ enum: ['a', 'b'] }, { enum: ['a'] }], undefined, 'input_schema.enum'],
    ['the input gets a limit', [TEXT, { ...TEXT, maxLength: 5 }], undefined, 'input_schema.maxLength'],
    [
      'the output loses a member that it had for sure',
      SAME,
      [object({ a: TEXT }, { required: ['a'] }), object({ a: TEXT })],
      'output_schema.required: a',
    ],
    ['the output becomes an object', SAME, [TEXT, object({ a: TEXT })], 'output_schema.type'],
    ['the output has a word more', SAME, [{ enum: ['a'] }, { enum: ['a', 'b'] }], 'output_schema.enum'],
    [
      'items of the input change',
      [
        object({ a: { type: 'array', items: TEXT } }),
        object({ a: { type: 'array', items: { type: 'number' } } }),
      ],
      undefined,
      'input_schema.properties.a.items',
    ],
    [
      'a part that is not understood changes',
      [{ anyOf: [TEXT] }, { anyOf: [TEXT, { type: 'number' }] }],
      undefined,
      'input_schema.anyOf',
    ],
  ])('%s, and says where [REG-77]', (_, input, output, reason) => {
    const { kind, reasons } = kindOf(input, output);
    expect(kind).toBe('breaking');
    expect(reasons.join('\n')).toContain(reason);
  });

  it('schemas nest deeper than is looked at, without recursing on', () => {
    let [one, other]: [object, object] = [TEXT, { type: 'number' }];
    for (let level = 0; level < 150; level += 1) [one, other] = [object({ a: one }), object({ a: other })];
    expect(kindOf([one, other]).kind).toBe('breaking');
  });
});
