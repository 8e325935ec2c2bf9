import { runMoneySoak } from './money-soak.js';
import { runBattery } from '../../run-battery.js';

await runBattery(
  {
    command: 'npm run soak -- money',
    summary:
      'Makes Per-Task runs while statements and calls of the RPC fail, the server is killed and forks drop charges. Ends with 1 ' +
      'when what the chain debited is not what runs cost, or database and chain differ.',
    options: {
      runs: { kind: 'number', text: 'how many', default: 20_000, most: 1_000_000 },
      seed: { kind: 'number', text: 'of the faults', default: 1, least: 0 },
      concurrency: { kind: 'number', text: 'runs at once', default: 24, most: 64 },
      'fault-percent': {
        kind: 'number',
        text: 'how likely a fault is at each step',
        default: 1,
        least: 0,
        most: 50,
      },
    },
  },
  (values, log) =>
    runMoneySoak({
      runs: values.runs,
      seed: values.seed,
      concurrency: values.concurrency,
      faultPercent: values['fault-percent'],
      log,
    }),
);
