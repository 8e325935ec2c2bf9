import { runCrashMatrix } from './matrix.js';
import { runPaymentMatrix } from '../payment-matrix/matrix.js';
import { runRegistrationMatrix } from '../registration-matrix/matrix.js';
import { runRecoveryMatrix } from './recovery.js';
import { runBattery } from '../../run-battery.js';

await runBattery(
  {
    command: 'npm run battery -- crash-matrix',
    summary:
      'Kills the server (-9) at every step of every kind of run. Kills a recovering server at every step that writes or sends. ' +
      'Kills the server at every step of a call that is paid for in its request, of a registration and of an update. Ends with 1 when a run is charged twice, or is ' +
      'neither delivered, nor credited, nor free. Also ends with 1 after a half registration.',
    options: { lanes: { kind: 'number', text: 'runs that each kill interrupts', default: 10, most: 12 } },
  },
  async ({ lanes }, log) => ({
    runs: await runCrashMatrix({ lanes, log }),
    recovery: await runRecoveryMatrix({ log }),
    payment: await runPaymentMatrix({ log }),
    registration: await runRegistrationMatrix({ log }),
  }),
  (report) => Object.values(report).flatMap(({ broken }) => broken),
);
