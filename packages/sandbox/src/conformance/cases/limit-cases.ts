import assert from 'node:assert/strict';
import { BEGUN_LINE, type EvaluateMessage } from '@agent-rental/agent-runner';
import type { ExitReason, Sandbox } from '../../sandbox.js';
import { type ConformanceCase, evaluate, nextLine, startCode, valueOf } from '../conformance-case.js';

const KIB = 1024;
const MIB = 1024 * KIB;

/** Reads all output of a sandbox until it ends. */
async function drain(sandbox: Sandbox): Promise<number> {
  let characters = 0;
  for await (const line of sandbox.lines) characters += line.length;
  return characters;
}

async function endsBecause(sandbox: Sandbox, reason: ExitReason): Promise<void> {
  try {
    await drain(sandbox);
    assert.equal((await sandbox.exited).reason, reason);
  } finally {
    await sandbox.kill();
  }
}

const BUSY_LOOP = `process.stdout.write('looping\\n'); for (;;);`;

/** Yields now and then, because Node sends output only between turns of the code. */
export const flood = (stream: 'stdout' | 'stderr', text = `'x'.repeat(1000) + '\\n'`): string => `
  for (;;) {
    for (let times = 0; times < 1000; times += 1) process.${stream}.write(${text});
    await new Promise((later) => setTimeout(later));
  }`;

export const BOMBS: Readonly<Record<string, string>> = {
  'typed arrays': `const held = []; for (;;) held.push(new Uint8Array(1 << 20).fill(1));`,
  'typed arrays, errors ignored': `const held = []; for (;;) { try { held.push(new Uint8Array(1 << 20).fill(1)); } catch {} }`,
  objects: `const held = []; for (;;) held.push({ x: Math.random(), y: [1, 2, 3] });`,
  strings: `const held = []; for (let i = 0; ; i += 1) held.push(('x' + i).repeat(100000) + i);`,
  'shared memory': `const held = []; for (;;) new Uint8Array(held[held.push(new SharedArrayBuffer(1 << 20)) - 1]).fill(1);`,
  workers: `
    const source = 'data:text/javascript,const a=[];for(;;)a.push(new Uint8Array(1<<20).fill(1))';
    for (let i = 0; i < 200; i += 1) new Worker(source, { type: 'module' });
    await new Promise(() => {});`,
};

/** Every limit ends the sandbox that exceeds it. */
export const limitCases: readonly ConformanceCase[] = [
  {
    name: 'ends a busy loop when killed, and says so',
    threat: 'busy loop',
    async check(driver) {
      const sandbox = await startCode(driver, BUSY_LOOP);
      assert.equal(await nextLine(sandbox), 'looping');
      await sandbox.kill();
      assert.equal((await sandbox.exited).reason, 'killed');
      assert.equal(await drain(sandbox), 0);
      sandbox.send('to an ended sandbox');
      await sandbox.kill();
    },
  },
  {
    name: 'ends code that takes too long',
    threat: 'busy loop',
    async check(driver) {
      const evaluation = await evaluate(driver, 'for (;;);', { timeoutMs: 300 });
      assert.ok('error' in evaluation);
      assert.match(evaluation.error, /longer than 300 ms/);
    },
  },
  ...(['stdout', 'stderr'] as const).map((stream): ConformanceCase => ({
    name: stream === 'stdout' ? 'bounds an output flood' : 'bounds a flood of errors',
    threat: 'output flood, endless line, input never read',
    async check(driver) {
      const limits = { maxTotalOutputBytes: MIB };
      await endsBecause(await startCode(driver, flood(stream), { limits }), 'output_too_large');
    },
  })),
  {
    name: 'bounds an endless line',
    threat: 'output flood, endless line, input never read',
    async check(driver) {
      const code = `const part = 'x'.repeat(1000); for (;;) process.stdout.write(part);`;
      const limits = { maxLineBytes: 64 * KIB };
      await endsBecause(await startCode(driver, code, { limits }), 'line_too_long');
    },
  },
  {
    name: 'bounds input that is never read',
    threat: 'output flood, endless line, input never read',
    async check(driver) {
      const sandbox = await startCode(driver, BUSY_LOOP, { limits: { maxPendingInputBytes: MIB } });
      await nextLine(sandbox);
      // The pipe takes some input before any is pending.
      for (let sent = 0; sent < 4 * MIB; sent += 64 * KIB) sandbox.send('x'.repeat(64 * KIB));
      await endsBecause(sandbox, 'input_not_read');
    },
  },
  {
    name: 'does not read ahead of a slow reader without bound',
    threat: 'output flood, endless line, input never read',
    async check(driver) {
      const total = 64;
      const code = `
        const line = 'x'.repeat(${MIB - 1}) + '\\n';
        for (let i = 0; i < ${total}; i += 1) process.stdout.write(line);
        return 'all written';`;
      const sandbox = await startCode(driver, code, { limits: { maxTotalOutputBytes: 2 * total * MIB } });
      try {
        let lines = 0;
        for await (const line of sandbox.lines) {
          if (line.length > KIB) lines += 1;
          else assert.match(line, /all written/);
        }
        assert.equal(lines, total, 'lines were lost');
      } finally {
        await sandbox.kill();
      }
    },
  },
  ...Object.entries(BOMBS).map(([kind, code]): ConformanceCase => ({
    name: `ends only the sandbox with a memory bomb (${kind})`,
    threat: 'memory bomb',
    appliesTo: ({ guarantees }) => guarantees.memoryBounded,
    async check(driver) {
      const neighbour = await driver.start({ entry: 'evaluator' });
      try {
        const evaluation = await evaluate(driver, code, { limits: { memoryMb: 192 }, timeoutMs: 15_000 });
        assert.ok('error' in evaluation, 'the bomb succeeded');
        const message: EvaluateMessage = { type: 'evaluate', protocol: 1, code: 'return 1;', task: 'x' };
        neighbour.send(JSON.stringify(message));
        assert.equal(await nextLine(neighbour), BEGUN_LINE);
        assert.equal(await nextLine(neighbour), '{"value":1,"stdout":""}');
      } finally {
        await neighbour.kill();
      }
    },
  })),
  {
    name: 'says when code ends without a result',
    threat: 'ending without an answer',
    async check(driver) {
      for (const code of ['await new Promise(() => {});', 'process.exit(0);', 'process.exit(3);']) {
        const evaluation = await evaluate(driver, code);
        assert.ok('error' in evaluation, code);
      }
    },
  },
  {
    name: 'gives errors, values and prints of code back',
    threat: 'ending without an answer',
    async check(driver) {
      assert.deepEqual(await evaluate(driver, `console.log('a', { b: 1 }); return { c: [input, task] };`), {
        value: { c: ['the input', 'the task'] },
        stdout: 'a {"b":1}\n',
      });
      assert.deepEqual(await evaluate(driver, `throw new RangeError('no');`), {
        error: 'RangeError: no',
        stdout: '',
      });
      assert.equal(await valueOf(driver, `process.stdout.write('past the console\\n'); return 1;`), 1);
      const syntax = await evaluate(driver, 'return (;');
      assert.ok('error' in syntax);
      assert.match(syntax.error, /SyntaxError/);
    },
  },
];
