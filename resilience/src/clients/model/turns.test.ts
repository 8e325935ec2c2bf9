import { expect, it } from 'vitest';
import { nextTurn } from './turns.js';

const wish = { tool: 'run_agent', args: { task: 't', input: null } };
const RUN = '7ad3c2ac-ae1c-4330-b99a-b1af7f088205';

it.each([
  ['calls the tool first', [], { call: wish }],
  ['calls again after its client’s timeout', [{ name: 'run_agent', output: 'timed out' }], { call: wish }],
  [
    'leaves out nulls when its client refused the arguments',
    [{ name: 'run_agent', output: 'Error: Received tool input did not match expected schema' }],
    { call: { tool: 'run_agent', args: { task: 't' } } },
  ],
  [
    'leaves out an extra argument that its client refused',
    [{ name: 'run_agent', output: '1 validation error for X\ntask\n  Extra inputs are not permitted' }],
    { call: { tool: 'run_agent', args: {} } },
  ],
  [
    'asks for the result of a running run',
    [{ name: 'run_agent', output: `[agent-rental] Run ${RUN} is still running` }],
    { call: { tool: 'get_run', args: { run_id: RUN } } },
  ],
  ['ends with the answer', [{ name: 'run_agent', output: 'done with x' }], { text: 'done with x' }],
  [
    'ends with an error of the marketplace',
    [{ name: 'run_agent', output: '[agent-rental] insufficient_balance: ...' }],
    { text: '[agent-rental] insufficient_balance: ...' },
  ],
])('a scripted model %s', (_name, steps, turn) => {
  expect(nextTurn(wish, steps)).toEqual(turn);
});
