import { expect, test } from 'vitest';
import { rehearse } from './rehearse.js';

test('a rehearsal is a whole run: a model call, a tool call, a check of the answer, and the end', async () => {
  const said = (await rehearse()).map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(said.filter(({ id }) => id !== undefined).map(({ method }) => method)).toEqual([
    'model.complete',
    'model.complete',
    'output.check',
  ]);
  expect(JSON.stringify(said)).toContain('total_length');
  expect(said.at(-1)).toEqual({ type: 'done', status: 'completed', output: 'It.' });
});
