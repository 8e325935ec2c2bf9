import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { LOCAL_DRIVERS } from './local-drivers.test-support.js';
import { descendants, recordedPids, runningOf } from './process/process-tree.test-support.js';
import { nextLine, startCode } from '../conformance/conformance-case.js';
import type { SandboxDriver, SandboxLimits } from '../sandbox.js';

/** Far longer than each test takes. Only a broken limit takes so long. */
const DEADLINE_MS = 100_000;

/** Blocks this process, as an endless loop would. */
function blockUntil(done: () => boolean): void {
  const deadline = Date.now() + DEADLINE_MS;
  const sleeper = new Int32Array(new SharedArrayBuffer(4));
  while (!done() && Date.now() < deadline) Atomics.wait(sleeper, 0, 0, 20);
}

for (const { name, runs, create } of LOCAL_DRIVERS) {
  describe.runIf(runs)(`while the host's event loop is blocked, with ${name}`, { timeout: 120_000 }, () => {
    let stateDir: string;
    let driver: SandboxDriver;

    beforeEach(async () => {
      stateDir = await mkdtemp(join(tmpdir(), 'sandbox state '));
      driver = await create({ stateDir });
    });
    afterEach(async () => {
      await driver.close();
      await rm(stateDir, { recursive: true });
    });

    test.each<[string, string, Partial<SandboxLimits>]>([
      ['a busy loop', 'for (;;);', { cpuSeconds: 1 }],
      [
        'a memory bomb',
        'const held = []; for (;;) held.push(new Uint8Array(1 << 20).fill(1));',
        { memoryMb: 160 },
      ],
    ])('%s ends at its limit', async (_what, code, limits) => {
      const sandbox = await startCode(driver, `process.stdout.write('started\\n');\n${code}`, { limits });
      expect(await nextLine(sandbox)).toBe('started');
      const [outer = 0] = await recordedPids(stateDir);
      const pids = [outer, ...descendants(outer)];
      expect(runningOf(pids)).toEqual(pids);
      blockUntil(() => runningOf(pids).length === 0);
      expect(runningOf(pids)).toEqual([]);
      // By itself, without a kill. At the limit, V8 throws in an allocation of the code, and aborts in an internal one.
      expect(['ended', 'crashed']).toContain((await sandbox.exited).reason);
    });
  });
}
