import { describe, expect, test } from 'vitest';
import { MAX_SAID_CHARACTERS, type RunRequest } from '../protocol.js';
import { HostRefusal } from './host.js';
import { runAgent } from './run-agent.js';
import { ScriptedHost, text, toolCall } from './scripted-host.test-support.js';

const run: RunRequest = {
  runId: 'run-1',
  task: 'Add the numbers.',
  input: { numbers: [1, 2] },
  tools: [
    { name: 'read_input', scope: 'input_only' },
    { name: 'run_javascript', scope: 'input_only' },
  ],
  outputSchema: { type: 'object', required: ['sum'] },
  maxSteps: 4,
};
const needsSum = (output: unknown): string[] =>
  typeof output === 'object' && output !== null && 'sum' in output ? [] : ['/sum is missing'];

describe('runAgent', () => {
  test('opens with task, input and schema, and answers with the object of the final text', async () => {
    const host = new ScriptedHost(text('```json\n{"sum": 3}\n```'));
    expect(await runAgent(run, host)).toEqual({ type: 'done', status: 'completed', output: { sum: 3 } });
    const [call] = host.modelCalls;
    expect(call).toMatchObject({ tools: ['read_input', 'run_javascript'], toolChoice: 'auto' });
    expect(call?.messages).toHaveLength(1);
    const { content } = call?.messages[0] ?? {};
    for (const part of ['Add the numbers.', '"numbers"', '"required":["sum"]'])
      expect(content).toContain(part);
  });

  test('a string schema takes the final text, and is not shown to the model', async () => {
    const host = new ScriptedHost(text(' {"not": "parsed"} '));
    const done = await runAgent({ ...run, outputSchema: { type: 'string' } }, host);
    expect(done).toMatchObject({ status: 'completed', output: '{"not": "parsed"}' });
    expect(host.lastMessage()).not.toContain('Schema');
  });

  test('gives results of tools to the model', async () => {
    const host = new ScriptedHost(toolCall('run_javascript', { code: 'return 3' }), text('{"sum": 3}'));
    host.evaluate = () => ({ value: 3, stdout: 'printed' });
    expect(await runAgent(run, host)).toMatchObject({ status: 'completed' });
    expect(host.evaluatedCode).toEqual(['return 3']);
    expect(host.modelCalls[1]?.messages.slice(1)).toEqual([
      {
        role: 'assistant',
        content: null,
        toolCalls: toolCall('run_javascript', { code: 'return 3' }).toolCalls,
      },
      { role: 'tool', toolCallId: 'call-1', content: '{"value":3,"stdout":"printed"}' },
    ]);
    expect(host.steps).toEqual(['model', 'run_javascript', 'model']);
  });

  test('a final value of code is the answer, exactly', async () => {
    const host = new ScriptedHost(toolCall('run_javascript', { code: 'return input', final: true }));
    const value = { sum: 3, rows: Array.from({ length: 100_000 }, (_, row) => row) };
    host.evaluate = () => ({ value, stdout: '' });
    expect(await runAgent(run, host)).toEqual({ type: 'done', status: 'completed', output: value });
    expect(host.modelCalls).toHaveLength(1);
  });

  test('a final value that breaks the schema goes back to the model', async () => {
    const host = new ScriptedHost(toolCall('run_javascript', { code: '1', final: true }), text('{"sum": 3}'));
    host.evaluate = () => ({ value: { total: 3 }, stdout: '' });
    host.violations = needsSum;
    expect(await runAgent(run, host)).toMatchObject({ status: 'completed', output: { sum: 3 } });
    expect(host.lastMessage()).toContain('/sum is missing');
  });

  test.each([
    ['an unknown tool', toolCall('web_fetch', {}), 'There is no tool'],
    ['arguments that are not JSON', toolCall('read_input', '{"offset":'), 'not valid JSON'],
    ['arguments that are no object', toolCall('read_input', '[1]'), 'must be a JSON object'],
    ['an unknown argument', toolCall('read_input', { from: 1 }), 'There is no argument'],
    ['an argument out of range', toolCall('read_input', { offset: -1 }), 'offset must be an integer'],
    ['no code', toolCall('run_javascript', {}), 'code must be a non-empty string'],
    ['code that fails', toolCall('run_javascript', { code: 'throw 1' }), 'it broke'],
  ])('%s is a result for the model, not the end', async (_what, reply, words) => {
    const host = new ScriptedHost(reply, text('{"sum": 3}'));
    host.evaluate = () => ({ error: 'it broke', stdout: '' });
    expect(await runAgent(run, host)).toMatchObject({ status: 'completed' });
    expect(host.lastMessage()).toContain(words);
  });

  test('a value too large for the model is refused with a way out', async () => {
    const host = new ScriptedHost(toolCall('run_javascript', { code: '1' }), text('{"sum": 3}'));
    host.evaluate = () => ({ value: 'x'.repeat(300_000), stdout: '' });
    await runAgent(run, host);
    expect(host.lastMessage()).toMatch(/set final to true/);
    expect(host.lastMessage().length).toBeLessThan(1_000);
  });

  test('does not offer a tool under a wrong scope', async () => {
    const host = new ScriptedHost(text('{"sum": 3}'));
    await runAgent({ ...run, tools: [{ name: 'run_javascript', scope: 'read_only' }] }, host);
    expect(host.modelCalls[0]).toMatchObject({ tools: [], toolChoice: 'none' });
  });

  test('asks once for repair, with the violations', async () => {
    const host = new ScriptedHost(text('{"total": 3}'), text('{"sum": 3}'));
    host.violations = needsSum;
    expect(await runAgent(run, host)).toMatchObject({ status: 'completed', output: { sum: 3 } });
    expect(host.lastMessage()).toContain('- /sum is missing');
  });

  test.each([
    ['another wrong object', text('{"total": 3}'), '/sum is missing'],
    ['words', text('I am sorry.'), 'not JSON'],
    ['nothing', text(''), 'empty'],
  ])('a repair that gives %s fails the run in plain words', async (_what, second, words) => {
    const host = new ScriptedHost(text('{"total": 3}'), second);
    host.violations = needsSum;
    const done = await runAgent(run, host);
    expect(done).toMatchObject({ status: 'failed', output: expect.stringContaining(words) });
    expect(host.modelCalls).toHaveLength(2);
  });

  test('repairs even an answer that came with the last step', async () => {
    const host = new ScriptedHost(text('{"total": 3}'), text('{"sum": 3}'));
    host.violations = needsSum;
    expect(await runAgent({ ...run, maxSteps: 1 }, host)).toMatchObject({ status: 'completed' });
  });

  test('offers no tools on the last step, and fails when the model wants one anyway', async () => {
    const more = toolCall('read_input', {});
    const host = new ScriptedHost(more, more, more, more, more);
    expect(await runAgent(run, host)).toMatchObject({
      status: 'failed',
      output: 'The agent did not finish within 4 steps.',
    });
    expect(host.modelCalls.map(({ toolChoice }) => toolChoice)).toEqual(['auto', 'auto', 'auto', 'none']);
  });

  test('tells why the model did not answer', async () => {
    const host = new ScriptedHost(new HostRefusal('it is overloaded'));
    expect(await runAgent(run, host)).toMatchObject({
      status: 'failed',
      output: "The agent's model did not answer: it is overloaded",
    });
  });

  test('a text cut off, or withheld, is no answer', async () => {
    const stringRun = { ...run, outputSchema: { type: 'string' } };
    for (const finishReason of ['length', 'content_filter'] as const) {
      const host = new ScriptedHost({ ...text('half of it'), finishReason });
      expect(await runAgent(stringRun, host)).toMatchObject({ status: 'failed' });
    }
  });

  test('bounds the tools called at once and the length of the conversation', async () => {
    const many = toolCall('read_input', {});
    many.toolCalls = Array.from({ length: 33 }, (_, at) => ({
      id: `c${at}`,
      name: 'read_input',
      arguments: '{}',
    }));
    expect(await runAgent(run, new ScriptedHost(many))).toMatchObject({ status: 'failed' });

    const big = { ...toolCall('read_input', {}), content: 'x'.repeat(2_000_001) };
    expect(await runAgent(run, new ScriptedHost(big))).toMatchObject({
      status: 'failed',
      output: expect.stringContaining('too long'),
    });
  });
});

describe('an answer in free text', () => {
  const freeText = { ...run, outputSchema: { type: 'string', description: 'The answer.' } };
  const beside = (content: string) => ({ ...toolCall('read_input', {}), content });

  test('is the last text alone when the others were short', async () => {
    const host = new ScriptedHost(beside('I read the input.'), text(' The answer. '));
    expect(await runAgent(freeText, host)).toMatchObject({ status: 'completed', output: 'The answer.' });
  });

  test('holds long texts from before a tool call', async () => {
    const long = 'x'.repeat(161);
    const host = new ScriptedHost(beside(`\n${long} `), beside('short'), text('The end.'));
    expect(await runAgent(freeText, host)).toMatchObject({ output: `${long}\n\nThe end.` });
    const final = new ScriptedHost(beside(long), toolCall('run_javascript', { code: 'x', final: true }));
    final.evaluate = () => ({ value: 'computed', stdout: '' });
    expect(await runAgent(freeText, final)).toMatchObject({ output: `${long}\n\ncomputed` });
  });

  test('is the last text alone where not every text is taken', async () => {
    const schema = { type: 'string', maxLength: 20 };
    const host = new ScriptedHost(beside('x'.repeat(161)), text('The answer.'));
    expect(await runAgent({ ...run, outputSchema: schema }, host)).toMatchObject({ output: 'The answer.' });
  });
});

describe('the input in the first message', () => {
  const large = 'line\n'.repeat(10_000);

  test('is left out when large, with its beginning and the ways to read it', async () => {
    const host = new ScriptedHost(text('{}'));
    await runAgent({ ...run, input: large }, host);
    const message = host.lastMessage();
    expect(message.length).toBeLessThan(2_000);
    for (const part of ['50000 characters', 'read_input', 'run_javascript']) expect(message).toContain(part);
    expect(message).not.toContain('search_input');
  });

  test('is whole, however large, when no tool could read it', async () => {
    const host = new ScriptedHost(text('{}'));
    await runAgent({ ...run, input: large, tools: [] }, host);
    expect(host.lastMessage()).toContain(large);
  });

  test('is sent in lines that are short enough, whole characters in each', async () => {
    const host = new ScriptedHost(text('{}'));
    const input = '😀'.repeat(300_000);
    await runAgent({ ...run, input, tools: [] }, host);
    expect(host.lastMessage()).toContain(input);
    expect(host.saidCharacters.length).toBeGreaterThan(4);
    expect(Math.max(...host.saidCharacters)).toBeLessThanOrEqual(MAX_SAID_CHARACTERS);
  });

  test('is not mentioned when there is none', async () => {
    const host = new ScriptedHost(toolCall('list_inputs', {}), text('{}'));
    const { input: _none, ...withoutInput } = run;
    await runAgent({ ...withoutInput, tools: [{ name: 'list_inputs', scope: 'input_only' }] }, host);
    expect(host.modelCalls[0]?.messages[0]?.content).not.toContain('input');
    expect(host.lastMessage()).toBe('[]');
  });
});

describe('the tools beside the input', () => {
  const withTools = (...tools: [string, string][]) => ({
    ...run,
    tools: tools.map(([name, scope]) => ({ name, scope })),
  });

  test('run_python and web_fetch run on the host', async () => {
    const host = new ScriptedHost(
      toolCall('run_python', { code: 'return 3' }),
      toolCall('web_fetch', { url: 'https://example.com/' }),
      text('{"sum": 3}'),
    );
    const granted = withTools(['run_python', 'input_only'], ['web_fetch', 'read_only']);
    expect(await runAgent(granted, host)).toMatchObject({ status: 'completed' });
    expect(host.languages).toEqual(['python']);
    expect(host.fetchedUrls).toEqual(['https://example.com/']);
    expect(host.lastMessage()).toContain('a page');
  });

  test('are not there under another scope', async () => {
    const host = new ScriptedHost(toolCall('web_fetch', { url: 'https://example.com/' }), text('{"sum": 3}'));
    await runAgent(withTools(['web_fetch', 'input_only'], ['repo_read', 'read_only']), host);
    expect(host.modelCalls[0]?.tools).toEqual([]);
    expect(host.fetchedUrls).toEqual([]);
  });

  test('read an archive, whose paths open the conversation', async () => {
    const host = new ScriptedHost(toolCall('repo_read', { path: 'a.txt' }), text('{"sum": 3}'));
    const files = Array.from({ length: 60 }, (_, at) => ({ path: `f${at}`, size_bytes: 1, text: 'x' }));
    files.unshift({ path: 'a.txt', size_bytes: 7, text: 'content' });
    const granted = withTools(['repo_read', 'repo_scoped'], ['run_javascript', 'input_only']);
    await runAgent({ ...granted, input: { media_type: 'application/zip' }, files }, host);
    const opening = host.modelCalls[0]?.messages[0]?.content ?? '';
    for (const part of ['61 files', 'repo_read', '`files` of `input`', 'a.txt (7 bytes)', '21 more']) {
      expect(opening).toContain(part);
    }
    expect(host.lastMessage()).toContain('content');
  });
});
