import { seedOr } from '@agent-rental/test/support/command-line/options';
import { runAbortBattery } from './battery.js';
import { runBattery } from '../run-battery.js';

await runBattery(
  {
    command: 'npm run battery -- abort',
    summary:
      'Aborts runs at random moments, in each way, and counts their leftovers. Ends with 1 when there are any.',
    options: {
      runs: { kind: 'number', text: 'number of runs to abort', default: 200 },
      seed: { kind: 'number', text: 'of the moments; random by default', least: 0 },
    },
  },
  (values, log) =>
    runAbortBattery({ ...values, seed: seedOr(values.seed), concurrency: 25, latestAbortMs: 4_000, log }),
);
