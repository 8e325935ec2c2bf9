import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { marketplaceSoPath } from '@agent-rental/program-client/artifact';
import { readCommandLine } from '@agent-rental/test/support/command-line/options';
import { runCampaign } from './campaign/campaign.js';
import { Coverage, type CoverageData } from './campaign/coverage.js';
import { missingCoverage } from './campaign/expected-coverage.js';
import { coverageTable, describeFailure, summary } from './campaign/report.js';

const PROGRESS_INTERVAL_SECONDS = 5;

/** From this number of instructions on, a run must reach every pair of instruction and error a hundred times. */
const LONG_RUN = 5_000_000;

/** A campaign's report on stdout with `--json`. */
type Report = CoverageData & { failures: string[] };

const { values: options } = readCommandLine({
  command: 'npm run fuzz -- program',
  summary: `Fuzzes the on-chain program against a model of it. Ends with 1 on a violation, and prints its seed, world, step and a
short sequence that repeats it. Also ends with 1 when the run did not reach the coverage for its length.`,
  options: {
    instructions: { kind: 'number', text: 'number of instructions', default: 10_000_000 },
    seed: { kind: 'number', text: 'the first seed; worker i of several takes seed + i', default: 1 },
    workers: { kind: 'number', text: 'processes', default: 1 },
    so: { kind: 'text', text: 'path of another build of the program; MARKETPLACE_SO by default' },
    'no-minimise': {
      kind: 'flag',
      text: 'reports a violation at once, without a search for a shorter sequence',
    },
    json: { kind: 'flag', text: 'the result as one JSON object on stdout' },
    worker: { kind: 'flag', text: 'runs as a worker of another process; --workers uses it' },
  },
});
const { instructions, seed, workers } = options;
const soPath = options.so ?? process.env['MARKETPLACE_SO'] ?? marketplaceSoPath();

const start = performance.now();
const seconds = (): number => (performance.now() - start) / 1_000;

async function runHere(): Promise<{ coverage: Coverage; failures: string[] }> {
  const parent = process.ppid;
  let lastLine = 0;
  const { coverage, failure } = await runCampaign({
    so: readFileSync(soPath),
    seed,
    instructions,
    isMinimised: !options['no-minimise'],
    onProgress: (coverage) => {
      // A worker ends with its parent.
      if (options.worker && process.ppid !== parent) {
        process.exit(1);
      }
      if (seconds() - lastLine > PROGRESS_INTERVAL_SECONDS) {
        lastLine = seconds();
        process.stderr.write(`${summary(coverage, seconds())}\n`);
      }
    },
  });
  return { coverage, failures: failure === null ? [] : [describeFailure(failure)] };
}

/** Runs a share of the instructions in another process, which writes its progress to this one's stderr. */
async function runWorker(index: number): Promise<Report> {
  const share = ['--seed', `${seed + index}`, '--instructions', `${Math.ceil(instructions / workers)}`];
  const flags = ['--worker', '--json', ...(options['no-minimise'] ? ['--no-minimise'] : [])];
  const args = [fileURLToPath(import.meta.url), ...share, '--so', soPath, ...flags];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const report = await text(child.stdout);
  if (report === '') {
    throw new Error(`Worker ${index} ended early.`);
  }
  return JSON.parse(report) as Report;
}

async function runWorkers(): Promise<{ coverage: Coverage; failures: string[] }> {
  const coverage = new Coverage();
  const reports = await Promise.all(Array.from({ length: workers }, (_, index) => runWorker(index)));
  reports.forEach((report) => coverage.merge(report));
  return { coverage, failures: reports.flatMap(({ failures }) => failures) };
}

const { coverage, failures } = workers > 1 ? await runWorkers() : await runHere();
const [leastPerEnding, leastPerPair] = instructions >= LONG_RUN ? [100, 1] : [0, 0];
const missing = missingCoverage(coverage, leastPerEnding, leastPerPair);
if (options.json) {
  const report = { seed, workers, seconds: seconds(), ...coverage.toJSON(), missing, failures };
  process.stdout.write(`${JSON.stringify(report)}\n`);
} else {
  process.stdout.write(`${coverageTable(coverage)}\n\n${summary(coverage, seconds())}\n`);
  process.stdout.write(missing.map((each) => `missing coverage: ${each}\n`).join(''));
  process.stdout.write(failures.map((each) => `${each}\n`).join(''));
}
process.exitCode = failures.length > 0 || missing.length > 0 ? 1 : 0;
