import { parseArgs } from 'node:util';
import { runAbortBattery } from './battery.js';

/** `npm run abort-battery -- [--runs 200] [--seed N]`: exit code 1 when anything is left of the aborted runs. */
const { values } = parseArgs({
  options: { runs: { type: 'string', default: '200' }, seed: { type: 'string' } },
});
const report = await runAbortBattery({
  runs: Number(values.runs),
  seed: Number(values.seed ?? Math.floor(Math.random() * 2 ** 31)),
  concurrency: 25,
  latestAbortMs: 4_000,
  log: (line) => process.stderr.write(`${line}\n`),
});
process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
process.exitCode = report.broken.length === 0 ? 0 : 1;
