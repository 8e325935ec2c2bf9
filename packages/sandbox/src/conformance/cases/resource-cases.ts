import assert from 'node:assert/strict';
import type { Sandbox } from '../../sandbox.js';
import {
  assertAllFail,
  type ConformanceCase,
  evaluate,
  hasLimits,
  ofThisMachine,
  startCode,
} from '../conformance-case.js';

const BOMBS_AT_ONCE = 20;
const BOMB_MEMORY_MB = 128;
/**
 * The longest allowed delay of a neighbour. It shares two cores with twenty other sandboxes and all other processes of the
 * machine. Without other processes its delay is tenths of a second.
 */
const NEIGHBOUR_BOUND_MS = 15_000;

export const THREAD_BOMB = `
  const idle = 'data:text/javascript,setInterval(() => {}, 1000)';
  for (let made = 0; made < 2000; made += 1) {
    new Worker(idle, { type: 'module' });
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  return 'all made';`;

const TICKING = `setInterval(() => process.stdout.write('tick\\n'), 50); await new Promise(() => {});`;

/** The longest pause between two lines of a sandbox, in milliseconds, until it ends. */
async function longestPause(sandbox: Sandbox): Promise<number> {
  let longest = 0;
  let last = performance.now();
  for await (const line of sandbox.lines) {
    assert.equal(line, 'tick');
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
  }
  return Math.max(longest, performance.now() - last);
}

/** Attempts of code to take resources from the machine and from its neighbours. */
export const resourceCases: readonly ConformanceCase[] = [
  {
    name: 'ends only the sandbox with a thread bomb',
    threat: 'thread bomb',
    appliesTo: hasLimits,
    async check(driver) {
      const evaluation = await evaluate(driver, THREAD_BOMB, { limits: { memoryMb: 192 } });
      assert.ok('error' in evaluation, 'two thousand threads were made');
    },
  },
  {
    name: 'ends only the sandboxes with twenty memory bombs at once, and a neighbour continues',
    threat: '20 memory bombs at once',
    appliesTo: hasLimits,
    async check(driver) {
      const neighbour = await startCode(driver, TICKING);
      const pause = longestPause(neighbour);
      const code = `const held = []; for (;;) held.push(new Uint8Array(1 << 20).fill(1));`;
      const limits = { memoryMb: BOMB_MEMORY_MB };
      const evaluations = await Promise.all(
        Array.from({ length: BOMBS_AT_ONCE }, () => evaluate(driver, code, { limits, timeoutMs: 60_000 })),
      );
      const endedBefore = await Promise.race([neighbour.exited.then(() => true), Promise.resolve(false)]);
      await neighbour.kill();
      assert.ok(!endedBefore, 'the neighbour ended');
      for (const evaluation of evaluations) assert.ok('error' in evaluation, 'a bomb succeeded');
      const longest = await pause;
      assert.ok(longest < NEIGHBOUR_BOUND_MS, `the neighbour was held up for ${longest} ms`);
    },
  },
  {
    name: 'ends a busy loop at its limit of processor time',
    threat: 'busy loop',
    appliesTo: hasLimits,
    async check(driver) {
      const evaluation = await evaluate(driver, 'for (;;);', {
        limits: { cpuSeconds: 1 },
        // Other processes use the processor, too.
        timeoutMs: 60_000,
      });
      assert.ok('error' in evaluation);
      assert.match(evaluation.error, /processor time/);
    },
  },
  {
    name: 'makes no file, folder or store, of any size or number',
    threat: 'filling the disk or its inodes',
    appliesTo: ofThisMachine,
    async check(driver) {
      const places = ['/', '/tmp/', '/dev/shm/', '/var/tmp/', '/app/', '/proc/', './', '/home/'];
      const perPlace = Object.fromEntries(
        places.flatMap((place) => [
          [`a file in ${place}`, `Deno.writeFile('${place}filled', new Uint8Array(1 << 20))`],
          [`a folder in ${place}`, `Deno.mkdir('${place}filled')`],
          [`a link in ${place}`, `Deno.symlink('x', '${place}filled')`],
          [
            `a file by Node in ${place}`,
            `import('node:fs').then((fs) => fs.writeFileSync('${place}filled', 'x'))`,
          ],
        ]),
      );
      const stores = {
        'a temporary file': `Deno.makeTempFile()`,
        'a temporary folder': `Deno.makeTempDir()`,
        'a key-value store': `Deno.openKv()`,
        'a key-value store in a file': `Deno.openKv('/tmp/kv')`,
        'a database': `import('node:sqlite').then(({ DatabaseSync }) => new DatabaseSync('/tmp/db').exec('create table t (x)'))`,
        'a heap snapshot': `import('node:v8').then((v8) => v8.writeHeapSnapshot())`,
        'a cache': `caches.open('filled').then((cache) => cache.put('http://x/', new Response('x')))`,
        // The standard's own bound is 10 MB.
        'more than a little local storage': `(() => { for (let i = 0; i < 64; i += 1) localStorage.setItem('k' + i, 'x'.repeat(1 << 20)); })()`,
      };
      await assertAllFail(driver, { ...perPlace, ...stores });
    },
  },
];
