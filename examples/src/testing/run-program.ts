import { runInNewContext } from 'node:vm';

/** The program in a system prompt: the text of its one fenced `js` block. */
export function programIn(systemPrompt: string): string {
  const [, program, ...more] = systemPrompt.split(/^```(?:js)?$/m);
  if (program === undefined || more.length !== 1) throw new Error('The prompt has no single fenced program.');
  return program;
}

/**
 * Runs a program like the sandbox does, as the body of an async function of `input` and `task`. The context has only the
 * language, so a program that uses its module fails here.
 */
export async function runProgram(program: string, input: unknown, task = ''): Promise<unknown> {
  const run = runInNewContext(`(async (input, task) => {\n'use strict';\n${program}\n})`) as (
    input: unknown,
    task: string,
  ) => Promise<unknown>;
  return JSON.parse(JSON.stringify(await run(input, task)));
}
