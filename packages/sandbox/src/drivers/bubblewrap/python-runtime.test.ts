import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Evaluation, JsonObject } from '@agent-rental/agent-runner';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createBubblewrapDriver } from './bubblewrap-driver.js';
import { createDenoDriver } from '../deno/deno-driver.js';
import { evaluateInSandbox } from '../../protocol/evaluate-in-sandbox.js';
import { onHardenedMachine } from './hardened-machine.test-support.js';
import type { SandboxDriver } from '../../sandbox.js';
import { createWarmPool } from '../../pool/warm-pool.js';
import type { WarmPool } from '../../pool/sandbox-pool.js';

let stateDir: string;

beforeAll(async () => {
  stateDir = await mkdtemp(join(tmpdir(), 'sandbox state '));
});
afterAll(() => rm(stateDir, { recursive: true }));

test('the Deno driver does not run Python, and says so', async () => {
  const driver = await createDenoDriver({ stateDir });
  expect(driver.capabilities).toEqual({ python: false });
  await expect(driver.start({ entry: 'evaluator', language: 'python' })).rejects.toThrow(
    /does not run python/,
  );
  await driver.close();
});

describe.runIf(onHardenedMachine)("a model's Python behind the kernel's wall", () => {
  let driver: SandboxDriver;
  let pool: WarmPool;

  beforeAll(async () => {
    driver = await createBubblewrapDriver({ stateDir });
    expect(driver.capabilities).toEqual({ python: true });
    pool = createWarmPool({
      driver,
      entry: 'evaluator',
      language: 'python',
      size: 1,
      maxActive: 2,
      maxWaitMs: 20_000,
    });
  });
  afterAll(async () => {
    await pool.close();
    await driver.close();
  });

  function evaluate(code: string, input?: string | JsonObject, timeoutMs = 20_000): Promise<Evaluation> {
    return evaluateInSandbox(
      pool,
      { code, task: 'the task', ...(input === undefined ? {} : { input }) },
      { timeoutMs },
    );
  }

  test('gets the input and the task, and gives a value and its prints', async () => {
    const code = `
import csv, io
from decimal import Decimal
rows = list(csv.DictReader(io.StringIO(input)))
print("rows:", len(rows))
def total():
    return sum(Decimal(row["amount"]) for row in rows)
return {"total": str(total()), "task": task, "names": [row["name"] for row in rows]}`;
    expect(await evaluate(code, 'name,amount\nä,0.10\nb,0.20\n')).toEqual({
      value: { total: '0.30', task: 'the task', names: ['ä', 'b'] },
      stdout: 'rows: 2\n',
    });
    expect(await evaluate('return input["a"]["b"]', { a: { b: [1, null] } })).toMatchObject({
      value: [1, null],
    });
    expect(await evaluate('return input')).toMatchObject({ value: null });
    expect(await evaluate('text = """\nnot indented\n"""\nreturn text')).toMatchObject({
      value: '\nnot indented\n',
    });
    expect(await evaluate('# nothing')).toMatchObject({ value: null });
  });

  test.each([
    ['x = 1\nreturn x / 0', 'ZeroDivisionError: division by zero (line 2)'],
    ['x = (', "SyntaxError: '(' was never closed (line 1)"],
    ['raise ValueError', 'ValueError: no message (line 1)'],
    ['import sys\nsys.exit(3)', 'SystemExit: 3 (line 2)'],
    ['return {1, 2}', 'TypeError: Object of type set is not JSON serializable'],
    ['return float("nan")', 'ValueError: Out of range float values are not JSON compliant'],
  ])('gets its error: %j', async (code, error) => {
    const evaluation = await evaluate(code);
    // The rest of the text differs by Python's version.
    expect((evaluation as { error: string }).error.split(':')[0]).toBe(error.split(':')[0]);
    expect((evaluation as { error: string }).error.match(/\(line \d\)$/)?.[0]).toBe(
      error.match(/\(line \d\)$/)?.[0],
    );
  });

  test('is bounded in its prints and its time', async () => {
    const flood = await evaluate('print("x" * 100_000)\nprint("more")\nreturn 1');
    expect(flood).toMatchObject({ value: 1, stdout: expect.stringMatching(/^x{16383}/) });
    expect(flood.stdout.length).toBeLessThanOrEqual(16_384);
    expect(await evaluate('while True: pass', undefined, 300)).toMatchObject({
      error: 'The code was stopped: it took longer than 300 ms.',
    });
  });

  test('ends although it left threads behind', async () => {
    const code = `
import threading, time
threading.Thread(target=time.sleep, args=(600,)).start()
return "done"`;
    expect(await evaluate(code)).toMatchObject({ value: 'done' });
  });

  test('gets an input of megabytes', async () => {
    const input = 'ü'.repeat(2_000_000);
    expect(await evaluate('return len(input)', input)).toMatchObject({ value: input.length });
  });
});
