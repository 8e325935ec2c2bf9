import { runHostileRpc } from './hostile-rpc.js';
import { runBattery } from '../../run-battery.js';

await runBattery(
  {
    command: 'npm run battery -- hostile-rpc',
    summary:
      'Makes runs over an endpoint of the RPC that misbehaves in each way, and over forks that drop confirmed charges. Ends ' +
      'with 1 when a run is charged twice, or output is unpaid that is not counted as lost.',
    options: { runs: { kind: 'number', text: 'how many at once under each', default: 12, most: 18 } },
  },
  ({ runs }, log) => runHostileRpc({ runs, log }),
);
