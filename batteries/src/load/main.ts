import { parseArgs } from 'node:util';
import { runLoad } from './load.js';

/** `npm run load -- [--within 300] [--over 60] [--seed N] [--keep-log FILE]` (seconds): exit code 1 when a bound is broken. */
const { values } = parseArgs({
  options: {
    within: { type: 'string', default: '300' },
    over: { type: 'string', default: '60' },
    seed: { type: 'string' },
    'keep-log': { type: 'string' },
  },
});
const report = await runLoad({
  listings: 5,
  runMs: 8_000,
  concurrency: 20,
  lineLength: 20,
  withinSeconds: Number(values.within),
  overSeconds: Number(values.over),
  seed: Number(values.seed ?? Math.floor(Math.random() * 2 ** 31)),
  keepLog: values['keep-log'],
  log: (line) => process.stderr.write(`${line}\n`),
});
process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
process.exitCode = report.broken.length === 0 ? 0 : 1;
