import { expect, test } from 'vitest';
import { rehearse } from './rehearse.js';

test('a rehearsal is a whole run: the model is asked, a tool used, the answer checked, and the end said', async () => {
  const said = (await rehearse()).map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(said.filter(({ id }) => id !== undefined).map(({ method }) => method)).toEqual([
    'model.complete',
    'model.complete',
    'output.check',
  ]);
  expect(JSON.stringify(said)).toContain('total_length');
  expect(said.at(-1)).toEqual({ type: 'done', status: 'completed', output: 'It.' });
});
