import { expect, it } from 'vitest';
import { countRuns } from './instrumented.js';
import { createMetrics } from './metrics.js';

it('a run that is counted begins as it was asked to: alone, and for good', async () => {
  const given: unknown[] = [];
  const none = async () => undefined;
  const runs = countRuns(
    {
      async begin(run: string, how?: object) {
        given.push(run, how);
        return { entry: 'seated' };
      },
      finish: none,
      hold: none,
      discard: none,
      markUndelivered: none,
    },
    createMetrics(),
  );
  const how = {};
  expect(await runs.begin('a run', how)).toEqual({ entry: 'seated' });
  expect(given).toEqual(['a run', how]);
});
