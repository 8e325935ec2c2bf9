import { seedOr } from '@agent-rental/test/support/command-line/options';
import { runRetryBattery } from './battery.js';
import { runBattery } from '../run-battery.js';

await runBattery(
  {
    command: 'npm run battery -- retries',
    summary:
      'Gives up on MCP calls at random moments, and repeats each until an answer. Makes pairs of equal calls at once. Ends with 1 ' +
      'unless each call and each pair was paid once.',
    options: {
      calls: { kind: 'number', text: 'calls to give up on', default: 1_000 },
      pairs: { kind: 'number', text: 'pairs of equal calls', default: 1_000 },
      concurrency: { kind: 'number', text: 'renters that call at once', default: 16 },
      seed: { kind: 'number', text: 'of the moments; random by default', least: 0 },
    },
  },
  (values, log) => runRetryBattery({ ...values, each: 10, seed: seedOr(values.seed), log }),
  ({ isRight }) => (isRight ? [] : ['charges']),
);
