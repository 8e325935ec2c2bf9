import { expect, it } from 'vitest';
import { nextTurn } from './turns.js';

const wish = { tool: 'run_agent', args: { task: 't', input: null } };
const RUN = '7ad3c2ac-ae1c-4330-b99a-b1af7f088205';

const poll = { call: { tool: 'get_run', args: { run_id: RUN } } };
const withArgs = (args: object) => ({ call: { tool: 'run_agent', args } });
const schemaError = 'Error: Received tool input did not match expected schema';
const extraError = '1 validation error for X\ntask\n  Extra inputs are not permitted';
const broke = '[agent-rental] insufficient_balance: ...';

it.each([
  ['calls the tool first', undefined, { call: wish }],
  ['calls again after its client’s timeout', 'timed out', { call: wish }],
  ['leaves out nulls when its client refused the arguments', schemaError, withArgs({ task: 't' })],
  ['leaves out an extra argument that its client refused', extraError, withArgs({})],
  ['asks for the result of a running run', `[agent-rental] Run ${RUN} is still running`, poll],
  ['ends with the answer', 'done with x', { text: 'done with x' }],
  ['ends with an error of the marketplace', broke, { text: broke }],
])('a scripted model %s', (_name, output, turn) => {
  expect(nextTurn(wish, output === undefined ? [] : [{ name: 'run_agent', output }])).toEqual(turn);
});
