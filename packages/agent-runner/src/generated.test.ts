import { type ChildProcessWithoutNullStreams, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, describe, expect, test } from 'vitest';
import { BEGUN_LINE, evaluatorPath, PROTOCOL_VERSION, runnerPath, runnerTools } from './index.js';
import type { Evaluation, HostMethod } from './protocol.js';
import { text, toolCall } from './runner/scripted-host.test-support.js';

let child: ChildProcessWithoutNullStreams | undefined;

/** Starts one of the bundled files on Node, as a microVM does; on Deno it is tested with the Deno driver. */
function start(path: string): { lines: AsyncIterator<string>; send: (message: object) => void } {
  const started = spawn(process.execPath, [path]);
  child = started;
  const lines = createInterface(started.stdout)[Symbol.asyncIterator]();
  return { lines, send: (message) => started.stdin.write(`${JSON.stringify(message)}\n`) };
}

afterEach(async () => {
  if (child !== undefined && child.exitCode === null && child.signalCode === null) {
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
});

async function nextMessage(lines: AsyncIterator<string>): Promise<unknown> {
  const next = await lines.next();
  return next.done === true ? undefined : JSON.parse(next.value);
}

async function evaluate(code: string): Promise<Evaluation> {
  const { lines, send } = start(evaluatorPath());
  expect(await nextMessage(lines)).toEqual({ type: 'ready', protocol: PROTOCOL_VERSION, entry: 'evaluator' });
  send({ type: 'evaluate', protocol: PROTOCOL_VERSION, code, input: { a: [1, 2] }, task: 'sum' });
  expect((await lines.next()).value).toBe(BEGUN_LINE);
  return (await nextMessage(lines)) as Evaluation;
}

test('the bundled files are up to date with the sources', async () => {
  const script = fileURLToPath(new URL('../bundle.mjs', import.meta.url));
  await expect(promisify(execFile)(process.execPath, [script, '--check'])).resolves.toBeDefined();
});

test('every tool describes its arguments', () => {
  for (const [name, tool] of Object.entries(runnerTools)) {
    expect(tool).toMatchObject({
      name,
      parameters: { type: 'object', additionalProperties: false },
    });
    expect(tool.description.length).toBeGreaterThan(20);
  }
});

describe('evaluator on Node', () => {
  test.each([
    ['a value', 'return input.a.length + task', { value: '2sum', stdout: '' }],
    ['a promise', 'return await Promise.resolve({ b: null })', { value: { b: null }, stdout: '' }],
    ['nothing', 'console.log("only printed")', { value: null, stdout: 'only printed\n' }],
    ['what JSON leaves out', 'return { a: undefined, b: NaN }', { value: { b: null }, stdout: '' }],
    ['an error', 'console.log(1); throw new TypeError("no")', { error: 'TypeError: no', stdout: '1\n' }],
    ['something thrown that is no error', 'throw "no"', { error: 'Thrown: no', stdout: '' }],
    [
      'a promise that is not awaited',
      'Promise.reject(new Error("lost")); await new Promise(() => {})',
      { error: 'Error: lost', stdout: '' },
    ],
    [
      'an error in a timer',
      'setTimeout(() => { throw new Error("late") }); await new Promise(() => {})',
      { error: 'Error: late', stdout: '' },
    ],
  ])('gives %s back', async (_what, code, evaluation) => {
    expect(await evaluate(code)).toEqual(evaluation);
  });

  test.each([
    ['a circle', 'const a = {}; a.a = a; return a', /circular/i],
    ['a bigint', 'return 1n', /BigInt/],
    ['a syntax error', 'return (', /SyntaxError/],
  ])('explains %s', async (_what, code, words) => {
    expect(await evaluate(code)).toMatchObject({ error: expect.stringMatching(words) });
  });

  test('bounds the printed output', async () => {
    const { stdout } = await evaluate('for (let i = 0; i < 100000; i += 1) console.log("some words", { i })');
    expect(stdout.length).toBeLessThan(17_000);
    expect(stdout).toMatch(/\[output cut\]$/);
  });
});

describe('runner on Node', () => {
  test('runs an agent over its input and output and ends', async () => {
    const { lines, send } = start(runnerPath());
    expect(await nextMessage(lines)).toEqual({ type: 'ready', protocol: PROTOCOL_VERSION, entry: 'runner' });
    const run = {
      runId: 'run-1',
      task: 'Größe?',
      input: 'ä'.repeat(100_000),
      tools: [{ name: 'read_input', scope: 'input_only' }],
      outputSchema: { type: 'string' },
      maxSteps: 3,
    };
    send({ type: 'run', protocol: PROTOCOL_VERSION, run });
    const replies = [toolCall('read_input', { offset: 99_999 }), text('done')];
    const seen: unknown[] = [];
    let message = (await nextMessage(lines)) as {
      id?: number;
      method?: HostMethod | 'step';
      params?: object;
    };
    while (message.method !== undefined) {
      if (message.id !== undefined) {
        seen.push(message.params);
        const checked = message.method === 'output.check';
        send({ id: message.id, result: checked ? { valid: true, errors: [] } : replies.shift() });
      }
      message = (await nextMessage(lines)) as typeof message;
    }
    expect(message).toEqual({ type: 'done', status: 'completed', output: 'done' });
    expect(seen).toHaveLength(3);
    expect(JSON.stringify(seen[1])).toContain(
      JSON.stringify(JSON.stringify({ text: 'ä', total_length: 100_000, next_offset: null })),
    );
    expect(await nextMessage(lines)).toBeUndefined();
    expect(child?.exitCode ?? (await once(child ?? process, 'exit'))[0]).toBe(0);
  });

  test.each([runnerPath(), evaluatorPath()])('ends when its host goes away: %s', async (path) => {
    const { lines } = start(path);
    await lines.next();
    child?.stdin.end();
    expect(await once(child ?? process, 'exit')).toEqual([0, null]);
  });

  test('refuses a run in another version', async () => {
    const { lines, send } = start(runnerPath());
    await lines.next();
    send({ type: 'run', protocol: PROTOCOL_VERSION + 1, run: {} });
    expect(await nextMessage(lines)).toMatchObject({ type: 'done', status: 'failed' });
  });
});
