import { expect, it } from 'vitest';
import { judgeCalls, type Call } from './judge-calls.js';

const call = (task: string, value: unknown): Call => {
  return { agentId: 'echo-aaaaaa', tool: 'create', task, value };
};
const ANSWER = '{"echo_of":"..."}';

it('finds refused calls and changed inputs', () => {
  const calls = [
    call('same', { a: 1 }),
    call('refused', { a: 2 }),
    call('changed', { a: 3 }),
    call('unread', {}),
  ];
  const arrived = new Map<string, unknown>([
    ['same', { a: 1 }],
    ['changed', { a: '3' }],
    ['unread', {}],
  ]);
  const said = new Map([
    [0, ANSWER],
    [1, 'not a valid argument'],
    [2, ANSWER],
    [3, 'the output does not match'],
  ]);
  expect(judgeCalls(calls, arrived, said)).toEqual({
    calls: 4,
    refused: [
      { tool: 'create', value: { a: 2 }, got: 'not a valid argument' },
      { tool: 'create', value: {}, got: 'the output does not match' },
    ],
    changed: [{ tool: 'create', value: { a: 3 }, got: { a: '3' } }],
  });
});
