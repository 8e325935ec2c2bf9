import { describe, expect, test } from 'vitest';
import { ToolProblem } from './arguments.js';
import { listInputs, readInput, searchInput } from './input-tools.js';
import { ScriptedHost } from '../scripted-host.test-support.js';

describe('readInput', () => {
  test('reads in parts and says where the next begins', () => {
    expect(readInput('abcdef', '{"length": 4}')).toEqual({ text: 'abcd', total_length: 6, next_offset: 4 });
    expect(readInput('abcdef', '{"offset": 4}')).toEqual({ text: 'ef', total_length: 6, next_offset: null });
    expect(readInput('abcdef', '{"offset": 99}')).toEqual({ text: '', total_length: 6, next_offset: null });
  });

  test('reads a bounded part by default, and takes null for an argument left out', () => {
    expect(readInput('x'.repeat(100_000), '{"length": null}')).toMatchObject({ next_offset: 32_768 });
    expect(() => readInput('x', '{"length": 32769}')).toThrow(ToolProblem);
  });

  test('says when there is no input', () => {
    expect(() => readInput(undefined, '')).toThrow('no input');
  });
});

test('listInputs tells type and size', () => {
  expect(listInputs('abc', 'abc', '')).toEqual([{ name: 'input', type: 'text', length: 3 }]);
  expect(listInputs({ a: 1 }, '{\n  "a": 1\n}', '{}')).toEqual([{ name: 'input', type: 'json', length: 12 }]);
});

describe('searchInput', () => {
  const input = 'Alpha (1)\nbeta\n\nALPHA (2) alpha\nlast';

  test('finds plain text with the special characters of patterns, once a line, with its position', async () => {
    const host = new ScriptedHost();
    expect(await searchInput(input, '{"query": "alpha ("}', host)).toEqual([
      { line: 1, offset: 0, text: 'Alpha (1)' },
      { line: 4, offset: 16, text: 'ALPHA (2) alpha' },
    ]);
    expect(await searchInput(input, '{"query": "alpha", "case_sensitive": true}', host)).toEqual([
      { line: 4, offset: 26, text: 'ALPHA (2) alpha' },
    ]);
    expect(await searchInput(input, '{"query": "a", "max_results": 2}', host)).toHaveLength(2);
    expect(await searchInput(input, '{"query": "gamma"}', host)).toEqual([]);
    expect(host.evaluatedCode).toEqual([]);
  });

  test.each(['^', '$', '.', '*', '+', '?', '(', ')', '[', ']', '{', '}', '|', '\\', '/', '-', '&&', '💥'])(
    'finds %s literally',
    async (query) => {
      const found = await searchInput(`none\nhere ${query}\n`, JSON.stringify({ query }), new ScriptedHost());
      expect(found).toEqual([{ line: 2, offset: 10, text: `here ${query}` }]);
    },
  );

  test('shows the part of a long line around the match', async () => {
    const line = `${'x'.repeat(5_000)}needle${'y'.repeat(5_000)}`;
    const found = await searchInput(line, '{"query": "needle"}', new ScriptedHost());
    expect(found).toEqual([{ line: 1, offset: 5_000, text: expect.stringMatching(/^x+needley+$/) }]);
    expect(JSON.stringify(found).length).toBeLessThan(400);
  });

  test('never runs a regular expression in this process', async () => {
    const host = new ScriptedHost();
    host.evaluate = () => ({ value: [{ line: 1, offset: 0, text: 'x' }], stdout: '' });
    const args = JSON.stringify({ query: '(a+)+$', regex: true });
    expect(await searchInput(`${'a'.repeat(40)}!`, args, host)).toHaveLength(1);
    expect(host.evaluatedCode).toHaveLength(1);
    host.evaluate = () => ({ error: 'The code was stopped', stdout: '' });
    await expect(searchInput('a', args, host)).rejects.toThrow('did not succeed: The code was stopped');
  });

  test('refuses an empty or endless query', async () => {
    await expect(searchInput('a', '{"query": ""}', new ScriptedHost())).rejects.toThrow(ToolProblem);
    const endless = JSON.stringify({ query: 'x'.repeat(501) });
    await expect(searchInput('a', endless, new ScriptedHost())).rejects.toThrow(ToolProblem);
  });
});
