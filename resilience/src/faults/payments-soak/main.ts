import { runBattery } from '../../run-battery.js';
import { runPaymentsSoak } from './payments-soak.js';

await runBattery(
  {
    command: 'npm run soak -- payments',
    summary:
      'Pays for calls in USDC while statements and RPC calls fail and the server is killed. Ends with 1 when the books of the till ' +
      'differ from the chain by a lamport or a unit.',
    options: {
      payments: { kind: 'number', text: 'number of payments', default: 2_000, most: 100_000 },
      seed: { kind: 'number', text: 'of the faults', default: 1, least: 0 },
      concurrency: { kind: 'number', text: 'payments at once', default: 16, most: 64 },
      'fault-percent': {
        kind: 'number',
        text: 'probability of a fault at each step',
        default: 1,
        least: 0,
        most: 50,
      },
    },
  },
  ({ 'fault-percent': faultPercent, ...values }, log) => runPaymentsSoak({ ...values, faultPercent, log }),
);
