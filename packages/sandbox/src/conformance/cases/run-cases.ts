import assert from 'node:assert/strict';
import type { EvaluateMessage } from '@agent-rental/agent-runner';
import { driveRun } from '../../protocol/drive-run.js';
import type { SandboxDriver, SandboxLimits } from '../../sandbox.js';
import type { ConformanceCase } from '../conformance-case.js';
import type { Threat } from '../threats.js';

interface TakenOver {
  threat: Threat;
  code: string;
  limits?: Partial<SandboxLimits>;
  appliesTo?: ConformanceCase['appliesTo'];
}

const MIB = 1024 * 1024;
const hasLimits = ({ guarantees, isolation }: SandboxDriver): boolean =>
  guarantees.memoryBounded && isolation !== 'microvm';

/** Yields now and then, for runtimes that send output only between turns. */
const endless = (text: string, stream: 'stdout' | 'stderr'): string => `
  for (;;) {
    for (let times = 0; times < 1000; times += 1) process.${stream}.write(${text});
    await new Promise((later) => setTimeout(later));
  }`;

/** Actions of a compromised runner. */
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
    code: endless(`'{"method":"step","params":{"name":"x","detail":"x"}}\\n'`, 'stdout'),
  },
  'floods its errors': {
    threat: 'output flood, endless line, input never read',
    code: endless(`'x'.repeat(1000)`, 'stderr'),
    limits: { maxTotalOutputBytes: MIB },
  },
  'sends a line without end': {
    threat: 'output flood, endless line, input never read',
    code: endless(`'x'.repeat(1000)`, 'stdout'),
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
      const sandbox = await driver.start({ entry: 'evaluator', limits });
      const message: EvaluateMessage = { type: 'evaluate', protocol: 1, code, task: 'x' };
      sandbox.send(JSON.stringify(message));
      const outcome = await driveRun({
        sandbox,
        run: { runId: 'run-1', task: 'a task', tools: [], outputSchema: { type: 'string' }, maxSteps: 2 },
        completeModel: () => new Promise(() => {}),
        evaluate: () => new Promise(() => {}),
        checkOutput: () => ({ valid: true, errors: [] }),
      });
      assert.equal(outcome.status, 'failed');
      assert.match(outcome.output, /^The agent [\w ,']+[.:]/);
      assert.doesNotMatch(outcome.output, /signal|SIG|exit code|stack|\/\w+\/|deno|node|prlimit|bwrap/i);
    },
  }),
);
