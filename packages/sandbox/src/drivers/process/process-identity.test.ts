import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { identifyByPs, identifyProcess } from './process-identity.js';
import { endNow } from './process-tree.test-support.js';

let child: ChildProcess;

beforeEach(async () => {
  const args = ['-e', 'process.stdin.resume()', 'a (word) alone'];
  child = spawn(process.execPath, args, { stdio: ['pipe', 'ignore', 'ignore'] });
  await once(child, 'spawn');
});

afterEach(() => endNow(child));

test.skipIf(process.platform === 'win32').each([
  { identify: identifyProcess, way: 'as this platform does it' },
  { identify: identifyByPs, way: 'by ps' },
])('recognizes a running process, $way', async ({ identify }) => {
  const pid = child.pid ?? 0;
  const first = await identify(pid);
  expect(first?.commandLine).toContain('a (word) alone');
  expect(await identify(pid)).toEqual(first);
  expect((await identify(process.pid))?.startTime).toBeTruthy();
  await endNow(child);
  expect(await identify(pid)).toBeUndefined();
});
