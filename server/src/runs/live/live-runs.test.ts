import { pino } from 'pino';
import { expect, it } from 'vitest';
import { createLiveRuns } from './live-runs.js';

it('the end of a run that is on record is news that the database is asked nothing for [OPS-52]', async () => {
  const asked: string[][] = [];
  let announce = (_runId: string): void => undefined;
  const live = createLiveRuns({
    runs: {
      stopRequests: async (runIds) => {
        asked.push(runIds);
        return [];
      },
    },
    changes: {
      announce: async () => undefined,
      watch: () => expect.unreachable(),
      subscribe: (listener) => (announce = listener),
      close: () => undefined,
    },
    logger: pino({ level: 'silent' }),
  });
  let end = (): void => undefined;
  const run = live.start('run', () => new Promise<void>((resolve) => (end = resolve)));
  announce('run');
  expect(asked).toEqual([['run']]);
  live.forget('run');
  announce('run');
  end();
  await run;
  expect(asked).toEqual([['run']]);
});
