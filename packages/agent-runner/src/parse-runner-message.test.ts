import * as fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { JsonBounds } from './parse-json.js';
import { parseReadyMessage, parseRunnerMessage, ProtocolViolation } from './parse-runner-message.js';

const user = { role: 'user', content: 'hello' };
const complete = (params: object): object => ({ id: 1, method: 'model.complete', params });
const params = { messages: [user], tools: ['read_input'], toolChoice: 'auto' };

function parseOrCatch(line: string): object {
  try {
    return parseRunnerMessage(line);
  } catch (error) {
    return error instanceof Error ? error : new Error('not an error');
  }
}

describe('parseRunnerMessage', () => {
  test.each([
    complete(params),
    complete({
      ...params,
      messages: [user, { role: 'tool', toolCallId: 'c1', content: '{}' }],
    }),
    complete({ ...params, messages: [] }),
    { method: 'say', params: { messages: [user] } },
    { method: 'say', params: { text: 'and more' } },
    { id: 2, method: 'code.evaluate', params: { language: 'javascript', code: 'return 1' } },
    { id: 2, method: 'code.evaluate', params: { language: 'python', code: 'return 1' } },
    { id: 2, method: 'web.fetch', params: { url: 'https://example.com/' } },
    { id: 3, method: 'output.check', params: { output: null } },
    { method: 'step', params: { name: 'model', detail: '' } },
    { type: 'done', status: 'completed', output: { a: [1] } },
    { type: 'done', status: 'failed', output: 'no' },
  ])('takes %j as it is', (message) => {
    expect(parseRunnerMessage(JSON.stringify(message))).toEqual(message);
  });

  test.each([
    ['no JSON', 'hello'],
    ['no object', '"hello"'],
    ['null', 'null'],
    ['an unknown method', { id: 1, method: 'exec', params: {} }],
    ['no id', { method: 'output.check', params: { output: 1 } }],
    ['an id that is no positive integer', { id: 0.5, method: 'output.check', params: { output: 1 } }],
    ['a key beside the known ones', { id: 1, method: 'output.check', params: { output: 1 }, runId: 'other' }],
    ['no output', { id: 1, method: 'output.check', params: {} }],
    ['another language', { id: 1, method: 'code.evaluate', params: { language: 'shell', code: '1' } }],
    ['a URL that is no text', { id: 1, method: 'web.fetch', params: { url: ['https://a.b'] } }],
    [
      'a URL without end',
      { id: 1, method: 'web.fetch', params: { url: `https://a.b/${'x'.repeat(2_000)}` } },
    ],
    [
      'a request with a method of its choice',
      { id: 1, method: 'web.fetch', params: { url: 'https://a.b', method: 'POST' } },
    ],
    ['a system message', complete({ ...params, messages: [user, { role: 'system', content: 'x' }] })],
    [
      'a message of the model',
      complete({ ...params, messages: [user, { role: 'assistant', content: 'x' }] }),
    ],
    [
      'a message of the model, ahead of the request',
      { method: 'say', params: { messages: [{ role: 'assistant', content: 'x' }] } },
    ],
    ['to say nothing', { method: 'say', params: {} }],
    ['to say a text that is a list', { method: 'say', params: { text: ['x'] } }],
    [
      'content that is no text',
      complete({ ...params, messages: [{ role: 'user', content: [{ type: 'image' }] }] }),
    ],
    ['a model of its choice', complete({ ...params, model: 'other' })],
    ['another tool choice', complete({ ...params, toolChoice: 'required' })],
    ['a tool with a schema', complete({ ...params, tools: [{ name: 'x' }] })],
    [
      'more messages than allowed',
      complete({ ...params, messages: Array.from({ length: 2_001 }, () => user) }),
    ],
    ['a step without end', { method: 'step', params: { name: 'x', detail: 'x'.repeat(501) } }],
    ['an unknown status', { type: 'done', status: 'running', output: 'x' }],
    ['a failure told by an object', { type: 'done', status: 'failed', output: {} }],
    ['a result without output', { type: 'done', status: 'completed' }],
    ['a result for a run of its choice', { type: 'done', status: 'completed', output: 'x', runId: 'other' }],
  ])('refuses %s', (_what, message) => {
    const line = typeof message === 'string' ? message : JSON.stringify(message);
    expect(() => parseRunnerMessage(line)).toThrow(ProtocolViolation);
  });

  test('refuses a value nested too deeply, without running out of stack', () => {
    const nested = (depth: number): string => `${'['.repeat(depth)}${']'.repeat(depth)}`;
    const line = (depth: number): string => `{"type":"done","status":"completed","output":${nested(depth)}}`;
    expect(parseRunnerMessage(line(60))).toMatchObject({ status: 'completed' });
    for (const depth of [70, 100_000])
      expect(() => parseRunnerMessage(line(depth))).toThrow(ProtocolViolation);
  });

  test('refuses a value of too many parts, without reading it', () => {
    const line = (item: string, items: number): string =>
      `{"type":"done","status":"completed","output":[${Array(items).fill(item).join(',')}]}`;
    expect(parseRunnerMessage(line('[]', 39_000))).toMatchObject({ status: 'completed' });
    expect(parseRunnerMessage(line('1', 199_000))).toMatchObject({ status: 'completed' });
    // A table: many rows, few keys.
    expect(parseRunnerMessage(line('{"name":1,"amount":2,"date":3}', 5_500))).toMatchObject({
      status: 'completed',
    });
    const parse = vi.spyOn(JSON, 'parse');
    for (const [item, items] of [
      ['[]', 40_001],
      ['{"a":1}', 14_000],
      ['""', 40_001],
      ['1', 200_002],
    ] as const) {
      expect(() => parseRunnerMessage(line(item, items))).toThrow(ProtocolViolation);
    }
    const keys = Array.from({ length: 12_000 }, (_, index) => [`key ${index}`, 0]);
    const output: unknown = Object.fromEntries(keys);
    const dictionary = JSON.stringify({ type: 'done', status: 'completed', output });
    expect(() => parseRunnerMessage(dictionary)).toThrow(ProtocolViolation);
    expect(parse).not.toHaveBeenCalled();
    parse.mockRestore();
  });

  test('counts the unpaired surrogates of a text, and no pairs', () => {
    const line = (escape: string, times: number): string =>
      `{"type":"done","status":"completed","output":"${escape.repeat(times)}"}`;
    expect(parseRunnerMessage(line('\\ud83d\\uDE00', 80_000))).toMatchObject({ status: 'completed' });
    expect(parseRunnerMessage(line('\\\\ud800', 80_000))).toMatchObject({ status: 'completed' });
    expect(parseRunnerMessage(line('\\ud800', 39_000))).toMatchObject({ status: 'completed' });
    for (const escape of ['\\ud800', '\\uDFff', '\\uD800x', '\\ude00x']) {
      expect(() => parseRunnerMessage(line(escape, 40_001))).toThrow(ProtocolViolation);
    }
  });

  test('takes brackets, quotes and commas inside texts for text', () => {
    const output = `${'[{"'.repeat(100)}\\"${',:'.repeat(100_000)}\\`;
    const message = { type: 'done', status: 'completed', output };
    expect(parseRunnerMessage(JSON.stringify(message))).toEqual(message);
  });

  test('gives the same result for a line in pieces and for the whole line', () => {
    const text = fc.oneof(
      fc.string(),
      fc.json(),
      fc.constantFrom(
        '\\',
        '"',
        '[',
        '{',
        '{"a":',
        '\\"',
        '[['.repeat(40),
        '"\\ud83d\\ude00',
        '\\ud800'.repeat(15_000),
      ),
    );
    fc.assert(
      fc.property(fc.array(text), fc.integer({ min: 1, max: 9 }), (texts, size) => {
        const line = texts.join('');
        const pieces = new JsonBounds();
        let admitted = true;
        for (let from = 0; from < line.length && admitted; from += size) {
          admitted = pieces.admits(line, from, Math.min(from + size, line.length));
        }
        expect(admitted).toBe(new JsonBounds().admits(line, 0, line.length));
      }),
    );
  });

  test('replaces lone surrogates in a text for the model', () => {
    const message = { method: 'say', params: { text: 'a\ud800b😀' } };
    expect(parseRunnerMessage(JSON.stringify(message))).toEqual({
      ...message,
      params: { text: 'a\ufffdb😀' },
    });
  });

  test('never fails in another way, and never lets a prototype be named', () => {
    const key = fc.constantFrom(
      'id',
      'method',
      'params',
      'type',
      'status',
      'output',
      '__proto__',
      'constructor',
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.json(),
          fc.dictionary(key, fc.jsonValue()).map((o) => JSON.stringify(o)),
        ),
        (line) => {
          const message = parseOrCatch(line);
          expect(
            message instanceof ProtocolViolation || Object.getPrototypeOf(message) === Object.prototype,
          ).toBe(true);
        },
      ),
    );
  });
});

describe('parseReadyMessage', () => {
  test('takes the entry that was started and no other', () => {
    const line = '{"type":"ready","protocol":2,"entry":"runner"}';
    expect(parseReadyMessage(line, 'runner')).toEqual({ type: 'ready', protocol: 2, entry: 'runner' });
    expect(() => parseReadyMessage(line, 'evaluator')).toThrow(ProtocolViolation);
    expect(() => parseReadyMessage('Welcome', 'runner')).toThrow(ProtocolViolation);
  });
});
