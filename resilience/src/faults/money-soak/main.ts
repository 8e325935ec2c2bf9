import { runMoneySoak } from './money-soak.js';
import { runBattery } from '../../run-battery.js';

await runBattery(
  {
    command: 'npm run soak -- money',
    summary:
      'Makes Per-Task runs while statements and RPC calls fail, the server is killed and forks drop charges. The chain moves to Alpenglow in ' +
      'the middle. Ends with 1 when the ' +
      'chain’s debits differ from the costs of the runs, or the database differs from the chain.',
    options: {
      runs: { kind: 'number', text: 'number of runs', default: 20_000, most: 1_000_000 },
      seed: { kind: 'number', text: 'of the faults', default: 1, least: 0 },
      concurrency: { kind: 'number', text: 'runs at once', default: 24, most: 64 },
      'fault-percent': {
        kind: 'number',
        text: 'probability of a fault at each step',
        default: 1,
        least: 0,
        most: 50,
      },
    },
  },
  ({ 'fault-percent': faultPercent, ...values }, log) => runMoneySoak({ ...values, faultPercent, log }),
);
