import { describe, expect, test } from 'vitest';
import { answerKind, readAnswer } from './answer.js';

const object = { type: 'object' };
const text = { type: 'string' };

describe('answerKind', () => {
  test.each([
    [text, 'text'],
    [object, 'json'],
    [{ type: 'array' }, 'json'],
    [{ type: ['object', 'null'] }, 'json'],
    [{ type: ['string', 'object'] }, 'either'],
    [{ properties: {} }, 'json'],
    [{}, 'either'],
  ])('of %j is %s', (schema, kind) => {
    expect(answerKind(schema)).toBe(kind);
  });
});

describe('readAnswer', () => {
  test.each([
    ['JSON alone', ' {"a": 1}\n', { a: 1 }],
    ['JSON in a fence', 'Here it is:\n```json\n{"a": 1}\n```\nDone.', { a: 1 }],
    ['the first fence that holds JSON', '```js\nlet a\n```\n```\n{"a": 1}\n```', { a: 1 }],
    ['JSON with words around it', 'The answer is {"a": [1, 2]}. Good luck!', { a: [1, 2] }],
  ])('takes %s', (_what, content, output) => {
    expect(readAnswer(content, object)).toEqual({ output });
  });

  test('keeps text unchanged for a text schema, also where it is JSON', () => {
    expect(readAnswer(' {"a": 1} ', text)).toEqual({ output: '{"a": 1}' });
  });

  test('takes objects as objects and the rest as text where both are allowed', () => {
    expect(readAnswer('{"a": 1}', {})).toEqual({ output: { a: 1 } });
    expect(readAnswer('42', {})).toEqual({ output: '42' });
  });

  test.each([null, '', '  \n'])('reports %j as empty', (content) => {
    expect(readAnswer(content, text)).toEqual({ problem: 'the answer is empty' });
  });

  test('reports text that is not JSON', () => {
    expect(readAnswer('I cannot [do] that {now}.', object)).toEqual({ problem: 'the answer is not JSON' });
  });
});
