import assert from 'node:assert/strict';
import type { ConformanceCase } from '../conformance-case.js';
import { hostileSystemCalls } from '../hostile-system-calls.js';
import { callsDone } from '../native-code.js';

const threatsOfCalls = [...new Set(hostileSystemCalls.map(({ threat }) => threat))];

/**
 * System calls that native code may not make: a model's Python, or a compromised Deno. They do not apply to a driver
 * without native code.
 */
export const kernelCases: readonly ConformanceCase[] = threatsOfCalls.map((threat) => ({
  name: `makes no system call (${threat})`,
  threat,
  async check(driver) {
    const calls = hostileSystemCalls.filter((call) => call.threat === threat);
    assert.deepEqual(await callsDone(driver, calls), []);
  },
}));
