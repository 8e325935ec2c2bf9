import { describe, expect, it } from 'vitest';
import { schemaViolations } from './compile.js';

const DRAFT_04 = 'http://json-schema.org/draft-04/schema#';
const DRAFT_06 = 'http://json-schema.org/draft-06/schema#';
const DRAFT_07 = 'http://json-schema.org/draft-07/schema#';
const DRAFT_2019 = 'https://json-schema.org/draft/2019-09/schema';
const DRAFT_2020 = 'https://json-schema.org/draft/2020-12/schema';

describe('a regular expression', () => {
  it.each([
    [String.raw`^\u{1F600}$`, '😀', 'a'],
    [String.raw`^\uD83D\uDE00$`, '😀', 'a'],
    [String.raw`^[\u0041-\u0043]$`, 'B', 'D'],
    [String.raw`^\cI$`, '\t', 'I'],
    ['^[^]$', '\n', ''],
    ['^a[]|b$', 'b', 'a'],
    [String.raw`^[\b]$`, '\b', 'b'],
    [String.raw`^\s$`, '\u00a0', 'a'],
    [String.raw`^[\S]$`, 'a', '\u2003'],
    ['^.$', '😀', '\u2028'],
    [String.raw`^\p{Letter}+$`, 'ä', '1'],
    [String.raw`^[^\p{Lowercase_Letter}]$`, 'Ä', 'ä'],
    [String.raw`^\p{Script=Greek}$`, 'λ', 'l'],
    [String.raw`^\P{sc=Greek}$`, 'l', 'λ'],
    [String.raw`^\p{gc=Nd}$`, '٣', 'x'],
    [String.raw`^\p{Script_Extensions=Greek}$`, 'λ', 'l'],
    [String.raw`^\p{Emoji_Presentation}$`, '😀', 'a'],
    ['^(?=.*[A-Z])(?!.*x).+$', 'aB', 'ab'],
    ['(?<=a)b', 'ab', 'cb'],
    ['(?<!a)b', 'cb', 'ab'],
    [String.raw`^(a|b)\1$`, 'aa', 'ab'],
    [String.raw`^(?<letter>a|b)\k<letter>$`, 'bb', 'ab'],
    [String.raw`^(?<year>\d{4})$`, '2026', '26'],
    [String.raw`^([a-z]{1,100}\.){1,100}$`, 'a.bc.', 'a'],
    ['^((a{100}){100}){100}$', 'a'.repeat(1_000_000), 'a'],
    ['^a{2000}$', 'a'.repeat(2_000), 'a'],
    [String.raw`^[\w-.]+\-\@$`, 'a.b-@', 'a b'],
    [String.raw`^[[:\]]+$`, '[:]', 'a'],
  ])('%s is one of ECMA-262', (pattern, valid, invalid) => {
    expect(schemaViolations({ pattern }, valid)).toEqual([]);
    expect(schemaViolations({ pattern }, invalid)).toHaveLength(1);
  });
});

const TUPLE = { type: 'array', items: [{ type: 'string' }, { type: 'number' }], additionalItems: false };
const OLD_BOUND = { minimum: 1, exclusiveMinimum: true };
const REFERENCE = { definitions: { text: { type: 'string' } }, $ref: '#/definitions/text', maxLength: 2 };

describe('the draft that a schema names', () => {
  it.each<[string, object, unknown, unknown]>([
    ['draft-07 has tuples', { $schema: DRAFT_07, ...TUPLE }, ['a', 1], ['a', 'b']],
    ['no draft has tuples, too', TUPLE, ['a', 1], ['a', 1, 2]],
    ['draft-04 has exclusive bounds of true', { $schema: DRAFT_04, ...OLD_BOUND }, 2, 1],
    ['no draft has exclusive bounds of true, too', OLD_BOUND, 2, 1],
    ['draft-06 has exclusive numbers', { $schema: DRAFT_06, exclusiveMinimum: 1 }, 2, 1],
    ['draft-07 ignores keywords beside a reference', { $schema: DRAFT_07, ...REFERENCE }, 'long', 1],
    ['2019-09 heeds keywords beside a reference', { $schema: DRAFT_2019, ...REFERENCE }, 'ab', 'long'],
    ['draft-04 has no constants', { $schema: DRAFT_04, const: 1, type: 'integer' }, 2, 'a'],
    ['draft-06 has no conditions', { $schema: DRAFT_06, if: false, else: false, minimum: 1 }, 2, 0],
    [
      'draft-07 has no tuples of 2020-12',
      { $schema: DRAFT_07, prefixItems: [false], items: true, minItems: 1 },
      [1],
      [],
    ],
    [
      '2019-09 has recursive references',
      {
        $schema: DRAFT_2019,
        $id: 'https://example.com/strict',
        $recursiveAnchor: true,
        $ref: 'tree',
        unevaluatedProperties: false,
        $defs: {
          tree: {
            $id: 'tree',
            $recursiveAnchor: true,
            properties: { inner: { $recursiveRef: '#' } },
          },
        },
      },
      { inner: { inner: {} } },
      { inner: { other: 1 } },
    ],
    [
      '2020-12 has dynamic references',
      {
        $schema: DRAFT_2020,
        $id: 'https://example.com/texts',
        $ref: 'list',
        $defs: {
          item: { $dynamicAnchor: 'item', type: 'string' },
          list: { $id: 'list', items: { $dynamicRef: '#item' }, $defs: { any: { $dynamicAnchor: 'item' } } },
        },
      },
      ['a'],
      [1],
    ],
    [
      'references are relative to an address',
      {
        $schema: DRAFT_07,
        $id: 'https://example.com/root.json',
        properties: { a: { $ref: 'inner.json#/definitions/text' }, b: { $ref: 'root.json#name' } },
        definitions: {
          inner: { $id: 'inner.json', definitions: { text: { type: 'string' } } },
          name: { $id: '#name', type: 'number' },
        },
      },
      { a: 'a', b: 1 },
      { a: 'a', b: 'b' },
    ],
    [
      'draft-04 has addresses under another name',
      {
        $schema: DRAFT_04,
        id: 'https://example.com/root.json',
        properties: { id: { $ref: 'inner.json' } },
        definitions: { inner: { id: 'inner.json', type: 'string' } },
      },
      { id: 'a' },
      { id: 1 },
    ],
    [
      'a reference leads to any place',
      { $ref: '#/components/a', components: { a: { type: 'null' } } },
      null,
      1,
    ],
    ['an anchor has a name', { $ref: '#a', $defs: { a: { $anchor: 'a', type: 'null' } } }, null, 1],
  ])('%s', (_, schema, valid, invalid) => {
    expect(schemaViolations(schema, valid)).toEqual([]);
    expect(schemaViolations(schema, invalid)).not.toEqual([]);
  });

  it('2020-12 has no list under items, and says so', () => {
    expect(() => schemaViolations({ $schema: DRAFT_2020, ...TUPLE }, [])).toThrow(/is "prefixItems"/);
  });
});
