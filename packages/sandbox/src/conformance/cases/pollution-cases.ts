import assert from 'node:assert/strict';
import type { JsonObject, ModelCompleteResult } from '@agent-rental/agent-runner';
import { driveRun } from '../../protocol/drive-run.js';
import { type ConformanceCase, evaluate, valueOf } from '../conformance-case.js';

/** As text, because a literal would set the prototype instead. */
const POISON = '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}';

function assertClean(): void {
  assert.equal(({} as { polluted?: unknown }).polluted, undefined, "the host's prototypes were changed");
}

/** Keys with a special meaning for prototypes, on every way into the host and the runner. */
export const pollutionCases: readonly ConformanceCase[] = [
  {
    name: 'takes values with the keys of prototypes as data',
    threat: 'prototype pollution',
    async check(driver) {
      const value = await valueOf(driver, `return JSON.parse(${JSON.stringify(POISON)});`);
      assert.equal(JSON.stringify(value), POISON);
      assertClean();
    },
  },
  {
    name: 'lets code that rewrites its own world forge nothing but its result',
    threat: 'prototype pollution',
    async check(driver) {
      const evaluation = await evaluate(
        driver,
        `Object.prototype.polluted = true;
         Object.prototype.toJSON = () => 'forged';
         Array.prototype.map = () => { throw new Error('no map'); };
         Promise.prototype.then = undefined;
         TextEncoder.prototype.encode = () => new Uint8Array(0);
         JSON.stringify = () => '{"value":"forged","stdout":"","extra":{"__proto__":{"polluted":true}}}';
         return { honest: true };`,
      );
      // The code may choose or break its own result.
      assert.ok('error' in evaluation || 'value' in evaluation);
      assertClean();
    },
  },
  {
    name: 'runs an agent whose input, model and code all speak of prototypes',
    threat: 'prototype pollution',
    async check(driver) {
      const answers: ModelCompleteResult[] = [
        {
          content: null,
          toolCalls: [
            {
              id: '1',
              name: 'run_javascript',
              arguments: `{"code":"return input","__proto__":{"final":true}}`,
            },
            { id: '2', name: '__proto__', arguments: POISON },
            { id: '3', name: 'constructor', arguments: POISON },
          ],
          finishReason: 'tool_calls',
        },
        { content: POISON, toolCalls: [], finishReason: 'stop' },
      ];
      const outcome = await driveRun({
        sandbox: await driver.start({ entry: 'runner' }),
        run: {
          runId: 'run-1',
          task: 'a task',
          input: JSON.parse(POISON) as JsonObject,
          tools: [{ name: 'run_javascript', scope: 'input_only' }],
          outputSchema: { type: 'object' },
          maxSteps: 4,
        },
        completeModel: () =>
          Promise.resolve(
            answers.shift() ?? { content: 'too many calls', toolCalls: [], finishReason: 'stop' },
          ),
        evaluate: () => Promise.resolve({ value: JSON.parse(POISON) as JsonObject, stdout: '' }),
        checkOutput: () => ({ valid: true, errors: [] }),
      });
      assert.equal(outcome.status, 'completed', JSON.stringify(outcome));
      assert.equal(JSON.stringify(outcome.output), POISON);
      assertClean();
    },
  },
];
