import { expect, it } from 'vitest';
import { judgeCalls, type Call } from './judge-calls.js';

const call = (task: string, value: unknown): Call => {
  return { agentId: 'echo-aaaaaa', tool: 'create', task, value };
};
const ANSWER = '{"echo_of":"..."}';

it('finds refused calls and changed inputs', () => {
  const values = { same: { a: 1 }, refused: { a: 2 }, changed: { a: 3 }, unread: {} };
  const calls = Object.entries(values).map(([task, value]) => call(task, value));
  const arrived = new Map<string, unknown>([
    ['same', { a: 1 }],
    ['changed', { a: '3' }],
    ['unread', {}],
  ]);
  const texts = [ANSWER, 'not a valid argument', ANSWER, 'the output does not match'];
  const said = new Map(texts.entries());
  expect(judgeCalls(calls, arrived, said)).toEqual({
    calls: 4,
    refused: [
      { tool: 'create', value: { a: 2 }, got: 'not a valid argument' },
      { tool: 'create', value: {}, got: 'the output does not match' },
    ],
    changed: [{ tool: 'create', value: { a: 3 }, got: { a: '3' } }],
  });
});
