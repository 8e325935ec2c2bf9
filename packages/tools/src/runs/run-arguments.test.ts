import { expect, it } from 'vitest';
import { inputArgument, taskArgument } from './run-arguments.js';

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

const nested = (levels: number): object => (levels === 1 ? { a: 1 } : { a: nested(levels - 1) });

it.each([
  [nested(65), 'is nested deeper than 64 levels, or is not JSON'],
  [{ a: Array(49_999).fill(0) }, 'has more than 50000 values'],
  [
    Object.fromEntries(Array.from({ length: 8_001 }, (_, at) => [at, 0])),
    'has more than 8000 different names',
  ],
  [{ a: 'x'.repeat(1_048_576) }, 'has more than 1048576 bytes'],
])('an input that the marketplace refuses is refused before anything is paid', (input, told) => {
  expect(() => inputArgument(input)).toThrow(`"input" ${told}.`);
});

it('an input within the bounds passes', () => {
  for (const input of [nested(64), { a: Array(49_998).fill(0) }])
    expect(inputArgument(input)).toEqual({ input });
});
