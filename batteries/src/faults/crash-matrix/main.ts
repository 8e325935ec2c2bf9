import { readCommandLine } from '@agent-rental/test/support/command-line/options';
import { runCrashMatrix } from './matrix.js';
import { runRegistrationMatrix } from '../registration-matrix/matrix.js';
import { runRecoveryMatrix } from './recovery.js';

const { values } = readCommandLine({
  command: 'npm run battery -- crash-matrix',
  summary:
    'Kills the server (-9) at every step of every kind of run, and the server that recovers at every step that writes or ' +
    'sends; then at every step of a registration and of an update. Ends with 1 when a run is charged twice, or is neither ' +
    'delivered, nor credited, nor free, and when something is half registered.',
  options: {
    lanes: { kind: 'number', text: 'how many runs each kill interrupts', default: 10, most: 12 },
  },
});
const log = (line: string) => process.stderr.write(`${line}\n`);
const report = {
  runs: await runCrashMatrix({ lanes: values.lanes, log }),
  recovery: await runRecoveryMatrix({ log }),
  registration: await runRegistrationMatrix({ log }),
};
process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
const broken = Object.values(report).flatMap((part) => part.broken);
process.exitCode = broken.length === 0 ? 0 : 1;
