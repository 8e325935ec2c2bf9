import { describe, expect, it } from 'vitest';
import { versionChange } from './version-change.js';

const TEXT = { type: 'string' };
const object = (properties: object) => ({ type: 'object', properties });
type Side = 'input_schema' | 'output_schema';
/** The change of one side's schema, while the other stays the same. */
const changeOf = (side: Side, before: object, after: object) => {
  const same = { input_schema: TEXT, output_schema: TEXT };
  return versionChange({ ...same, [side]: before }, { ...same, [side]: after });
};
const INTEGER = { type: 'integer' };
const NUMBER = { type: 'number' };
const A = object({ a: TEXT });
const AB = object({ a: TEXT, b: TEXT });
const requiring = (schema: object, ...required: string[]) => ({ ...schema, required });
const listOf = (items: object) => object({ a: { type: 'array', items } });
const words = (...values: string[]) => ({ enum: values });

describe('an update is compatible where', () => {
  it.each<[string, Side, object, object]>([
    ['nothing of the schemas changes', 'input_schema', TEXT, TEXT],
    ['a description changes', 'input_schema', A, object({ a: { ...TEXT, description: 'Better.' } })],
    ['the input gets an optional member', 'input_schema', A, AB],
    ['a required member of the input becomes optional', 'input_schema', requiring(A, 'a'), A],
    ['the input takes another type too', 'input_schema', TEXT, { type: ['string', 'object'] }],
    ['an integer may be any number', 'input_schema', object({ a: INTEGER }), object({ a: NUMBER })],
    ['the input takes another word', 'input_schema', words('a'), words('a', 'b')],
    ['the input takes anything', 'input_schema', A, {}],
    ['the output gets a member', 'output_schema', A, requiring(AB, 'b')],
    ['the output has fewer words', 'output_schema', words('a', 'b'), words('a')],
    ['a limit of the input goes', 'input_schema', { ...TEXT, maxLength: 5 }, TEXT],
  ])('%s [REG-77]', (_, side, before, after) => {
    expect(changeOf(side, before, after)).toEqual({ kind: 'compatible', reasons: [] });
  });
});

describe('an update is breaking where', () => {
  it.each<[string, Side, object, object, string]>([
    ['the input requires a member', 'input_schema', A, requiring(AB, 'b'), 'required: b'],
    ['the input has another type', 'input_schema', TEXT, object({}), 'type'],
    ['a member of the input does', 'input_schema', A, object({ a: NUMBER }), 'properties.a.type'],
    ['a member goes', 'input_schema', AB, { ...A, additionalProperties: false }, 'properties.b'],
    ['the input takes a word less', 'input_schema', words('a', 'b'), words('a'), 'enum'],
    ['the input gets a limit', 'input_schema', TEXT, { ...TEXT, maxLength: 5 }, 'maxLength'],
    ['the output loses a member that it had for sure', 'output_schema', requiring(A, 'a'), A, 'required: a'],
    ['the output becomes an object', 'output_schema', TEXT, A, 'type'],
    ['the output has a word more', 'output_schema', words('a'), words('a', 'b'), 'enum'],
    ['items change', 'input_schema', listOf(TEXT), listOf(NUMBER), 'properties.a.items'],
    ['a part is not understood', 'input_schema', { anyOf: [TEXT] }, { anyOf: [TEXT, NUMBER] }, 'anyOf'],
  ])('%s, and says where [REG-77]', (_, side, before, after, reason) => {
    const { kind, reasons } = changeOf(side, before, after);
    expect(kind).toBe('breaking');
    expect(reasons.join('\n')).toContain(`${side}.${reason}`);
  });

  it('schemas nest deeper than is looked at, without recursing on', () => {
    let [one, other]: [object, object] = [TEXT, NUMBER];
    for (let level = 0; level < 150; level += 1) [one, other] = [object({ a: one }), object({ a: other })];
    expect(changeOf('input_schema', one, other).kind).toBe('breaking');
  });
});
