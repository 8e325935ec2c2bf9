import { readCommandLine } from '@agent-rental/test/support/command-line/options';
import { runHostileRpc } from './hostile-rpc.js';

const { values } = readCommandLine({
  command: 'npm run battery -- hostile-rpc',
  summary:
    'Makes runs over an endpoint of the RPC that misbehaves in each way, and over forks that drop confirmed charges. Ends ' +
    'with 1 when a run is charged twice, or output is unpaid that is not counted as lost.',
  options: { runs: { kind: 'number', text: 'how many at once under each', default: 12, most: 18 } },
});
const report = await runHostileRpc({ runs: values.runs, log: (line) => process.stderr.write(`${line}\n`) });
process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
process.exitCode = report.broken.length === 0 ? 0 : 1;
