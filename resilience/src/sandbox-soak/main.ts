import { seedOr } from '@agent-rental/test/support/command-line/options';
import { runSandboxSoak } from './soak.js';
import { runBattery } from '../run-battery.js';

await runBattery(
  {
    command: 'npm run soak -- sandbox',
    summary:
      'Runs hostile code of every kind beside an honest caller, and kills the server several times. Ends with 1 when a bound is\nbroken.',
    options: {
      runs: { kind: 'number', text: 'number of hostile runs', default: 2000 },
      kills: { kind: 'number', text: 'kills of the server', default: 3, least: 0 },
      concurrency: { kind: 'number', text: 'hostile runs at once', default: 2 },
      seed: { kind: 'number', text: 'of the random choices; random by default', least: 0 },
    },
  },
  (values, log) => {
    const bounds = { blockedMs: 50, slowerTimes: 2 };
    return runSandboxSoak({ ...values, quietRuns: 100, seed: seedOr(values.seed), bounds, log });
  },
);
