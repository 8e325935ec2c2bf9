import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseReadyMessage, parseRunnerMessage, ProtocolViolation } from './parse-runner-message.js';

const user = { role: 'user', content: 'hello' };
const call = { id: 'c1', name: 'read_input', arguments: '{}' };
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
      messages: [
        user,
        { role: 'assistant', content: null, toolCalls: [call] },
        { role: 'tool', toolCallId: 'c1', content: '{}' },
        { role: 'assistant', content: 'done' },
      ],
    }),
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
    ['no message', complete({ ...params, messages: [] })],
    [
      'a conversation opened by the assistant',
      complete({ ...params, messages: [{ role: 'assistant', content: 'x' }] }),
    ],
    [
      'content that is no text',
      complete({ ...params, messages: [{ role: 'user', content: [{ type: 'image' }] }] }),
    ],
    ['a model of its choice', complete({ ...params, model: 'other' })],
    ['a tool choice of its own', complete({ ...params, toolChoice: 'required' })],
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
    const line = '{"type":"ready","protocol":1,"entry":"runner"}';
    expect(parseReadyMessage(line, 'runner')).toEqual({ type: 'ready', protocol: 1, entry: 'runner' });
    expect(() => parseReadyMessage(line, 'evaluator')).toThrow(ProtocolViolation);
    expect(() => parseReadyMessage('Welcome', 'runner')).toThrow(ProtocolViolation);
  });
});
