import { mkdtemp, rm } from 'node:fs/promises';
import { getPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createBubblewrapDriver } from '../bubblewrap/bubblewrap-driver.js';
import { createDenoDriver } from '../deno/deno-driver.js';
import { onHardenedMachine } from '../bubblewrap/hardened-machine.test-support.js';
import { descendants, recordedPids } from './process-tree.test-support.js';
import type { SandboxDriver } from '../../sandbox.js';

/** Priorities of all processes of a sandbox of each kind, in the order of `entries`. */
async function prioritiesOf(
  create: (stateDir: string) => Promise<SandboxDriver>,
  entry: 'runner' | 'evaluator',
): Promise<number[]> {
  const stateDir = await mkdtemp(join(tmpdir(), 'sandbox state '));
  const driver = await create(stateDir);
  try {
    await driver.start({ entry });
    const pids = await recordedPids(stateDir);
    return [...pids, ...pids.flatMap(descendants)].map((pid) => getPriority(pid));
  } finally {
    await driver.close();
    await rm(stateDir, { recursive: true });
  }
}

describe.each([
  ['Deno', (stateDir: string) => createDenoDriver({ stateDir }), true],
  ['bubblewrap', (stateDir: string) => createBubblewrapDriver({ stateDir }), onHardenedMachine],
] as const)('on %s', (_name, create, isHere) => {
  test.runIf(isHere)('code of a model yields to the server, an agent does not', async () => {
    const own = getPriority();
    // Where this process has the lowest priority itself, there is nothing below it.
    const below = Math.min(19, own + 10);
    for (const priority of await prioritiesOf(create, 'evaluator')) expect(priority).toBe(below);
    for (const priority of await prioritiesOf(create, 'runner')) expect(priority).toBe(own);
  });
});
