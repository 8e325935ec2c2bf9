import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ChatMessage, ModelCompleteResult, RunRequest } from '@agent-rental/agent-runner';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createDenoDriver } from '../drivers/deno/deno-driver.js';
import { driveRun } from './drive-run.js';
import type { DriveRunOptions, RunOutcome } from './run-options.js';
import { evaluateInSandbox } from './evaluate-in-sandbox.js';
import type { SandboxDriver } from '../sandbox.js';
import { createWarmPool } from '../pool/warm-pool.js';
import type { WarmPool } from '../pool/sandbox-pool.js';

const CSV = `date,category,amount\n${Array.from({ length: 5_000 }, (_, row) => `2024-01-02,travel,${row}.10`).join('\n')}\n`;

const run: RunRequest = {
  runId: 'run-1',
  task: 'Sum the amounts by category.',
  input: CSV,
  tools: [
    { name: 'read_input', scope: 'input_only' },
    { name: 'search_input', scope: 'input_only' },
    { name: 'run_javascript', scope: 'input_only' },
  ],
  outputSchema: { type: 'object' },
  maxSteps: 5,
};

const SUM = `
  const cents = {};
  for (const line of input.trim().split('\\n').slice(1)) {
    const [, category, amount] = line.split(',');
    cents[category] = (cents[category] ?? 0) + Math.round(Number(amount) * 100);
  }
  return { total_cents: cents };`;

let stateDir: string;
let driver: SandboxDriver;
let runners: WarmPool;
let evaluators: WarmPool;

beforeAll(async () => {
  stateDir = await mkdtemp(join(tmpdir(), 'sandbox-'));
  driver = await createDenoDriver({ stateDir });
  runners = createWarmPool({ driver, entry: 'runner', size: 1, maxActive: 4, maxWaitMs: 20_000 });
  evaluators = createWarmPool({ driver, entry: 'evaluator', size: 1, maxActive: 4, maxWaitMs: 20_000 });
});

afterAll(async () => {
  await runners.close();
  await evaluators.close();
  await driver.close();
  await rm(stateDir, { recursive: true });
});

type Model = (messages: ChatMessage[]) => ModelCompleteResult;

const call = (name: string, args: object): ModelCompleteResult => ({
  content: null,
  toolCalls: [{ id: `call-${name}`, name, arguments: JSON.stringify(args) }],
  finishReason: 'tool_calls',
});
const say = (content: string): ModelCompleteResult => ({ content, toolCalls: [], finishReason: 'stop' });

/** Runs the code of a model on an input. */
const evaluateWith =
  (input: string, timeoutMs: (code: string) => number): DriveRunOptions['evaluate'] =>
  ({ code }, signal) =>
    evaluateInSandbox(evaluators, { code, input, task: run.task }, { timeoutMs: timeoutMs(code), signal });

/** Runs a real agent: the bundled runner in one sandbox, the model's code in others. The model follows a script. */
async function runAgent(model: Model, changes: Partial<DriveRunOptions> = {}): Promise<RunOutcome> {
  const sandbox = await runners.take();
  return driveRun({
    sandbox,
    run,
    completeModel: ({ messages }) => Promise.resolve(model(messages)),
    evaluate: evaluateWith(CSV, () => 10_000),
    checkOutput: (output) =>
      typeof output === 'object' && output !== null && 'total_cents' in output
        ? { valid: true, errors: [] }
        : { valid: false, errors: ['/total_cents is missing'] },
    ...changes,
  });
}

describe('an agent in the Deno sandbox', () => {
  test('works on an input too large to show, and its code gives the exact answer', async () => {
    const opening: string[] = [];
    const outcome = await runAgent((messages) => {
      if (messages.length === 1) {
        opening.push(messages[0]?.content ?? '');
        return call('search_input', { query: '^2024-01-02,travel,(42|43)\\.', regex: true });
      }
      const found = messages.at(-1)?.content ?? '';
      return found.includes('"line":44') ? call('run_javascript', { code: SUM, final: true }) : say(found);
    });
    // 0.10 + 1.10 + ... + 4999.10
    const total = (4_999 * 5_000) / 2 + 5_000 / 10;
    expect(outcome).toEqual({
      status: 'completed',
      output: { total_cents: { travel: total * 100 } },
      modelCalls: 2,
      evaluations: 2,
    });
    expect(opening[0]).toContain('too long to be shown');
  });

  test('gets the error of its code, and may try again', async () => {
    const outcome = await runAgent(
      (messages) => {
        const last = messages.at(-1)?.content ?? '';
        if (messages.length === 1) return call('run_javascript', { code: 'for (;;);', final: true });
        if (last.includes('longer than'))
          return call('run_javascript', { code: 'return { sum: 1 }', final: true });
        if (last.includes('/total_cents is missing'))
          return call('run_javascript', { code: SUM, final: true });
        return say(last);
      },
      { evaluate: evaluateWith(CSV, (code) => (code === 'for (;;);' ? 200 : 10_000)) },
    );
    expect(outcome).toMatchObject({ status: 'completed', modelCalls: 3, evaluations: 3 });
  });

  test('repairs its answer once', async () => {
    const outcome = await runAgent((messages) =>
      say(messages.length === 1 ? '{"total": {}}' : '```json\n{"total_cents": {}}\n```'),
    );
    expect(outcome).toMatchObject({ status: 'completed', output: { total_cents: {} }, modelCalls: 2 });
  });

  test('fails in plain words when it finds no answer', async () => {
    const outcome = await runAgent(() => call('read_input', {}));
    expect(outcome).toMatchObject({
      status: 'failed',
      output: 'The agent did not finish within 5 steps.',
      failure: { cause: 'agent' },
    });
  });

  test('is gone when it is aborted, also while its code is busy', async () => {
    const controller = new AbortController();
    const outcome = await runAgent(() => call('run_javascript', { code: 'for (;;);' }), {
      signal: controller.signal,
      evaluate: (params, signal) => {
        const pending = evaluateWith('', () => 600_000)(params, signal);
        controller.abort();
        return pending;
      },
    });
    expect(outcome).toMatchObject({
      status: 'failed',
      output: 'The run was stopped.',
      failure: { cause: 'aborted' },
    });
    expect(runners.stats().active).toBe(0);
    // The sandbox of the code ends a moment later.
    await expect.poll(() => evaluators.stats().active).toBe(0);
  });

  test('gets a 1 MiB input and sends a large answer', async () => {
    const input = 'ü'.repeat(500_000);
    const outcome = await runAgent(
      () => call('run_javascript', { code: 'return { total_cents: input }', final: true }),
      { run: { ...run, input }, evaluate: evaluateWith(input, () => 20_000) },
    );
    expect(outcome).toMatchObject({ status: 'completed', output: { total_cents: input } });
  });
});
