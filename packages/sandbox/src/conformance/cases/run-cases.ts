import assert from 'node:assert/strict';
import type { SandboxLimits } from '../../sandbox.js';
import { type ConformanceCase, driveTakenOver, hasLimits, startCode } from '../conformance-case.js';
import { flood } from './limit-cases.js';

interface TakenOver extends Pick<ConformanceCase, 'threat' | 'appliesTo'> {
  code: string;
  limits?: Partial<SandboxLimits>;
}

const MIB = 1024 * 1024;

const TAKEN_OVER: Readonly<Record<string, TakenOver>> = {
  'eats memory': {
    threat: 'memory bomb',
    code: `const held = []; for (;;) held.push(new Uint8Array(1 << 20).fill(1));`,
    limits: { memoryMb: 192 },
    appliesTo: hasLimits,
  },
  'eats processor time': {
    threat: 'busy loop',
    code: 'for (;;);',
    limits: { cpuSeconds: 1 },
    appliesTo: hasLimits,
  },
  'floods its output': {
    threat: 'output flood, endless line, input never read',
    // A line that is allowed at any time, without end.
    code: flood('stdout', `'{"method":"step","params":{"name":"x","detail":"x"}}\\n'`),
  },
  'floods its errors': {
    threat: 'output flood, endless line, input never read',
    code: flood('stderr', `'x'.repeat(1000)`),
    limits: { maxTotalOutputBytes: MIB },
  },
  'sends a line without end': {
    threat: 'output flood, endless line, input never read',
    code: flood('stdout', `'x'.repeat(1000)`),
    limits: { maxLineBytes: MIB },
  },
  'ends without an answer': { threat: 'ending without an answer', code: 'process.exit(0);' },
  'ends with a code': { threat: 'ending without an answer', code: 'process.exit(3);' },
  'ends its runtime': {
    threat: 'ending without an answer',
    code: `process.stderr.write('/home/operator/secret-path'); process.exit(134);`,
  },
};

/** The text for the renter about a run with a compromised runner. */
export const runCases: readonly ConformanceCase[] = Object.entries(TAKEN_OVER).map(
  ([what, { threat, code, limits = {}, appliesTo }]) => ({
    name: `fails a run in plain words when its runner ${what}`,
    threat,
    ...(appliesTo === undefined ? {} : { appliesTo }),
    async check(driver) {
      const outcome = await driveTakenOver(await startCode(driver, code, { limits }));
      assert.equal(outcome.status, 'failed');
      assert.match(outcome.output, /^The agent [\w ,']+[.:]/);
      assert.doesNotMatch(outcome.output, /signal|SIG|exit code|stack|\/\w+\/|deno|node|prlimit|bwrap/i);
    },
  }),
);
