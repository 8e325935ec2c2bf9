import { describe, expect, it } from 'vitest';
import { runProgram } from '../testing/run-program.js';
import { programText, promptAround } from './program-text.js';

function double(value: number): number {
  return value * 2;
}

function answer(input: unknown): number {
  return double(Number(input));
}

function fenced(): string {
  return '```';
}

describe('programText', () => {
  it('lifts functions out of their module', async () => {
    expect(await runProgram(programText(answer, [double]), 21)).toBe(42);
  });

  it('refuses a text that would end the fenced block around it', () => {
    expect(() => programText(fenced, [])).toThrow('fence');
  });

  it('is put into a prompt in one fenced block', () => {
    expect(promptAround('You double.', 'return 1;')).toMatch(/^You double\.\n[^]*\n```js\nreturn 1;\n```$/);
  });
});
