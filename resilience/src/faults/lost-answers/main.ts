import { seedOr } from '@agent-rental/test/support/command-line/options';
import { runBattery } from '../../run-battery.js';
import { runLostAnswers } from './battery.js';

await runBattery(
  {
    command: 'npm run battery -- lost-answers',
    summary:
      'Pays for calls in SOL and in USDC, breaks the connection at a random moment, and sends the same payload again until the ' +
      'answer. Ends with 1 unless each call was paid, run and charged once.',
    options: {
      calls: { kind: 'number', text: 'calls, each of another wallet', default: 1_000, most: 100_000 },
      concurrency: { kind: 'number', text: 'calls at once', default: 16, most: 64 },
      seed: { kind: 'number', text: 'of the moments; random by default', least: 0 },
    },
  },
  (values, log) => runLostAnswers({ ...values, seed: seedOr(values.seed), log }),
);
