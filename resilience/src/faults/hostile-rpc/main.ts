import { runHostileRpc } from './hostile-rpc.js';
import { runBattery } from '../../run-battery.js';

await runBattery(
  {
    command: 'npm run battery -- hostile-rpc',
    summary:
      'Makes runs under each misbehaviour of an RPC endpoint, and over forks that drop confirmed charges. Ends with 1 when a ' +
      'run is charged twice, or an unpaid output is not counted as lost.',
    options: { runs: { kind: 'number', text: 'runs at once under each', default: 12, most: 18 } },
  },
  ({ runs }, log) => runHostileRpc({ runs, log }),
);
