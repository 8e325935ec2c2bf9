import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Evaluation } from '@agent-rental/agent-runner';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createBubblewrapDriver } from './bubblewrap-driver.js';
import { assertLoopStaysFree } from '../../conformance/loop-watch.js';
import { evaluateInSandbox } from '../../protocol/evaluate-in-sandbox.js';
import { onHardenedMachine } from './hardened-machine.test-support.js';
import type { SandboxDriver } from '../../sandbox.js';

/** Writes to file descriptor 1 past the captured output. */
const repeated = (text: string, times: number): string => `
import os
for _ in range(${times}):
    rest = ${text}
    while rest:
        rest = rest[os.write(1, rest):]`;

const FLOODS: Readonly<Record<string, string>> = {
  'newlines in chunks of 64 KiB': repeated(String.raw`b"\n" * 65536`, 63),
  'newlines in chunks of 256 KiB': repeated(String.raw`b"\n" * 262144`, 15),
  'newlines one by one': repeated(String.raw`b"\n"`, 60_000),
  'empty objects': repeated(String.raw`b"{}\n" * 21845`, 63),
  'lines that begin like a result': repeated(String.raw`b'{"value": "stdout"}}\n' * 3000`, 60),
  'lines of null characters': repeated(String.raw`b"\0\n" * 32768`, 63),
  'lines of a megabyte': repeated(String.raw`b'{"value": "' + b"x" * 1000000 + b'", "stdout": 1}\n'`, 3),
  'characters split across writes': `${repeated('b"x"', 1)}
for byte in ("\\u20ac\\U0001f600" * 5000).encode():
    os.write(1, bytes([byte]))`,
  'output and errors by turns': `
import os
for _ in range(400):
    os.write(1, b"x\\n" * 2000)
    os.write(2, b"e\\n" * 2000)`,
};

describe.runIf(onHardenedMachine)('Python that floods its host', () => {
  let stateDir: string;
  let driver: SandboxDriver;

  beforeAll(async () => {
    stateDir = await mkdtemp(join(tmpdir(), 'sandbox state '));
    driver = await createBubblewrapDriver({ stateDir });
  });
  afterAll(async () => {
    await driver.close();
    await rm(stateDir, { recursive: true });
  });

  function evaluate(code: string): Promise<Evaluation> {
    const pool = { take: () => driver.start({ entry: 'evaluator', language: 'python' }) };
    return evaluateInSandbox(pool, { code, task: 'the task' }, { timeoutMs: 20_000 });
  }

  test.each(Object.entries(FLOODS))('with %s does not block the event loop [EXE-60]', async (_what, code) => {
    await assertLoopStaysFree(async () => {
      const evaluation = await evaluate(`${code}\nreturn "flooded"`);
      expect('error' in evaluation || evaluation.value === 'flooded').toBe(true);
    });
  });
});
