import { expect, it } from 'vitest';
import { countRuns } from './counted.js';
import { createMetrics } from './metrics.js';

it('a run that is counted begins in the transaction that was given: another connection might have to be waited for', async () => {
  const given: unknown[] = [];
  const none = async () => undefined;
  const runs = countRuns(
    {
      begin: async (run: string, on?: object) => given.push(run, on) > 0,
      finish: none,
      hold: none,
      discard: none,
      markUndelivered: none,
    },
    createMetrics(),
  );
  const transaction = {};
  expect(await runs.begin('a run', transaction)).toBe(true);
  expect(given).toEqual(['a run', transaction]);
});
