import { expect, it } from 'vitest';
import { taskArgument } from './run-arguments.js';

it.each([
  [5, '"task" is the number 5'],
  [{ text: 'Do it.' }, '"task" is an object'],
  [['Do it.'], '"task" is a list'],
  [undefined, '"task" is missing'],
  [null, '"task" is missing'],
  ['  ', '"task" is missing'],
])('a task that is %j is named by its type', (task, told) => {
  expect(() => taskArgument({ task })).toThrow(told);
});
