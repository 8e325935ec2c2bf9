import { parseArgs } from 'node:util';
import { runSandboxSoak } from './soak.js';

/** `npm run soak:sandbox -- [--runs 2000] [--kills 3] [--concurrency 2] [--seed N]`: exit code 1 when a bound is broken. */
const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '2000' },
    kills: { type: 'string', default: '3' },
    concurrency: { type: 'string', default: '2' },
    seed: { type: 'string' },
  },
});
const report = await runSandboxSoak({
  runs: Number(values.runs),
  kills: Number(values.kills),
  concurrency: Number(values.concurrency),
  quietRuns: 100,
  seed: Number(values.seed ?? Math.floor(Math.random() * 2 ** 31)),
  bounds: { blockedMs: 50, slowerTimes: 2 },
  log: (line) => process.stderr.write(`${line}\n`),
});
process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
process.exitCode = report.broken.length === 0 ? 0 : 1;
