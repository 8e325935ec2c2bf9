import assert from 'node:assert/strict';
import type { ConformanceCase } from '../conformance-case.js';
import { hostileSystemCalls } from '../hostile-system-calls.js';
import { callsDone } from '../native-code.js';

const threatsOfCalls = [...new Set(hostileSystemCalls.map(({ threat }) => threat))];

/**
 * What native code may not ask of the kernel: a model's Python, or a Deno that was taken over. A driver that runs no
 * native code has nothing to try.
 */
export const kernelCases: readonly ConformanceCase[] = threatsOfCalls.map((threat) => ({
  name: `makes no system call (${threat})`,
  threat,
  async check(driver) {
    const calls = hostileSystemCalls.filter((call) => call.threat === threat);
    assert.deepEqual(await callsDone(driver, calls), []);
  },
}));
