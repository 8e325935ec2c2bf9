import { expect, it } from 'vitest';
import { exampleTexts, inputOf, type TypedField } from './typed-input.js';

const field = (name: string | undefined, kind: string, value: string): TypedField => ({ name, kind, value });

it('makes members of the typed fields, and leaves out the empty ones [SVC-23]', () => {
  expect(
    inputOf([
      field('note', 'text', ' two\nlines '),
      field('count', 'number', '-1.5e3'),
      field('isNew', 'boolean', 'false'),
      field('tone', 'choice', '"kind"'),
      field('parts', 'json', '[1, {"a": null}]'),
      field('empty', 'text', ''),
    ]),
  ).toEqual({ note: ' two\nlines ', count: -1500, isNew: false, tone: 'kind', parts: [1, { a: null }] });
  expect(inputOf([field('empty', 'text', '')])).toEqual({});
});

it('makes own members of names that objects have already', () => {
  const input = inputOf([field('__proto__', 'json', '{"admin": true}')]) as object;
  expect(Object.keys(input)).toEqual(['__proto__']);
  expect(Object.getPrototypeOf(input)).toBe(Object.prototype);
});

it('takes the whole input of one field', () => {
  expect(inputOf([field(undefined, 'text', 'all of it')])).toBe('all of it');
  expect(inputOf([field(undefined, 'json', '{"a": 1}')])).toEqual({ a: 1 });
  expect(inputOf([field(undefined, 'json', '"text"')])).toBe('text');
  expect(inputOf([field(undefined, 'json', '')])).toBeUndefined();
});

it.each([
  [field('count', 'number', 'seven'), 'Input count: type a number.'],
  [field('count', 'number', ' '), 'Input count: type a number.'],
  [field('parts\u202e', 'json', '[1'), 'Input parts: it is no JSON.'],
  [field(undefined, 'json', '[1]'), 'Input: it is an object in braces'],
  [field(undefined, 'json', 'null'), 'Input: it is an object in braces'],
])('says which field is wrong: %j', (wrong, said) => {
  expect(() => inputOf([wrong])).toThrow(said);
});

it('fills the fields with an example, and leaves the others empty', () => {
  const fields = [
    { name: 'city', kind: 'line' },
    { name: 'days', kind: 'number' },
    { name: 'only', kind: 'boolean' },
    { name: 'tags', kind: 'json' },
    { name: 'missing', kind: 'text' },
  ];
  const example = { city: 'Graz', days: 2, only: true, tags: ['a'] };
  const texts = exampleTexts(example, fields);
  expect(texts).toEqual(['Graz', '2', 'true', '["a"]', '']);
  expect(inputOf(fields.map((field, index) => ({ ...field, value: texts[index] ?? '' })))).toEqual(example);
  expect(exampleTexts('Words.', [{ name: undefined, kind: 'text' }])).toEqual(['Words.']);
  expect(exampleTexts({ a: 1 }, [{ name: undefined, kind: 'json' }])).toEqual(['{"a":1}']);
});
