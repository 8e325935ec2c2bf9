import { fork } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { marketplaceSoPath } from '@agent-rental/program-client/artifact';
import { readCommandLine } from '@agent-rental/test/support/command-line/options';
import { runCampaign, type CampaignFailure } from './campaign/campaign.js';
import { Coverage } from './campaign/coverage.js';
import { missingCoverage } from './campaign/expected-coverage.js';
import { coverageTable, describeFailure, summary } from './campaign/report.js';

const PROGRESS_INTERVAL_MS = 5_000;

/** From here on every reachable pair of instruction and error must have been seen a hundred times. */
const LONG_RUN = 5_000_000;

/** What a worker process tells its parent. */
interface WorkerMessage {
  coverage: ReturnType<Coverage['toJSON']>;
  isDone: boolean;
  failure: string | null;
}

const { values: options } = readCommandLine({
  command: 'npm run fuzz -- program',
  summary: `Fuzzes the on-chain program against a model of it. Ends with 1 on a violation, printing seed, world, step and a
shortest sequence found that shows it, and when a run of this length did not reach the coverage that it must.`,
  options: {
    instructions: { kind: 'number', text: 'how many to run', default: 10_000_000 },
    seed: { kind: 'number', text: 'the first seed; worker i of several takes seed + i', default: 1 },
    workers: { kind: 'number', text: 'processes', default: 1 },
    so: { kind: 'text', text: 'path of another build of the program; MARKETPLACE_SO by default' },
    'no-minimise': {
      kind: 'flag',
      text: 'reports a violation at once, without looking for a shorter sequence',
    },
    json: { kind: 'flag', text: 'the result as one JSON object on stdout' },
    worker: { kind: 'flag', text: 'runs as a worker of another process, which is how --workers starts it' },
  },
});
const { instructions, seed, workers } = options;
const soPath = options.so ?? process.env['MARKETPLACE_SO'] ?? marketplaceSoPath();

function runInThisProcess(onProgress: (coverage: Coverage) => void): Promise<{
  coverage: Coverage;
  failure: CampaignFailure | null;
}> {
  let last = performance.now();
  return runCampaign({
    so: readFileSync(soPath),
    seed,
    instructions,
    isMinimised: !options['no-minimise'],
    onProgress: (coverage) => {
      const now = performance.now();
      if (now - last > PROGRESS_INTERVAL_MS) {
        last = now;
        onProgress(coverage);
      }
    },
  });
}

async function runAsWorker(): Promise<void> {
  const send = (message: WorkerMessage, onSent?: () => void): void => {
    process.send?.(message, undefined, undefined, onSent);
  };
  const parent = process.ppid;
  const result = await runInThisProcess((coverage) => {
    // The campaign gives the event loop little time: the parent's id tells earlier than an event that it is gone.
    if (process.ppid !== parent) {
      process.exit(1);
    }
    send({ coverage: coverage.toJSON(), isDone: false, failure: null });
  });
  const failure = result.failure === null ? null : describeFailure(result.failure);
  // The open channel would keep this process alive.
  send({ coverage: result.coverage.toJSON(), isDone: true, failure }, () => process.exit(0));
}

async function runWorkers(
  onProgress: (coverage: Coverage) => void,
): Promise<{ coverage: Coverage; failures: string[] }> {
  const latest: WorkerMessage[] = [];
  const failures: string[] = [];
  const merged = (): Coverage => {
    const coverage = new Coverage();
    for (const message of latest.filter((each) => each !== undefined)) {
      coverage.merge(message.coverage);
    }
    return coverage;
  };
  const runs = Array.from({ length: workers }, (_, index) => {
    const share = Math.ceil(instructions / workers);
    const args = ['--worker', '--seed', `${seed + index}`, '--instructions', `${share}`, '--so', soPath];
    const child = fork(fileURLToPath(import.meta.url), args);
    return new Promise<void>((resolve, reject) => {
      child.on('message', (message: WorkerMessage) => {
        latest[index] = message;
        onProgress(merged());
        if (message.failure !== null) {
          failures.push(message.failure);
        }
      });
      child.on('error', reject);
      child.on('exit', (code) =>
        latest[index]?.isDone === true
          ? resolve()
          : reject(new Error(`Worker ${index} ended early with ${String(code)}.`)),
      );
    });
  });
  await Promise.all(runs);
  return { coverage: merged(), failures };
}

async function main(): Promise<void> {
  const start = performance.now();
  const seconds = (): number => (performance.now() - start) / 1_000;
  let lastLine = 0;
  const onProgress = (coverage: Coverage): void => {
    if (seconds() - lastLine > PROGRESS_INTERVAL_MS / 1_000) {
      lastLine = seconds();
      process.stderr.write(`${summary(coverage, seconds())}\n`);
    }
  };
  const result = workers > 1 ? await runWorkers(onProgress) : await runAlone(onProgress);
  const { coverage, failures } = result;
  const [leastPerVerdict, leastPerPair] = instructions >= LONG_RUN ? [100, 1] : [0, 0];
  const missing = missingCoverage(coverage, leastPerVerdict, leastPerPair);
  if (options.json) {
    const report = { seed, workers, seconds: seconds(), ...coverage.toJSON(), missing, failures };
    process.stdout.write(`${JSON.stringify(report)}\n`);
  } else {
    process.stdout.write(`${coverageTable(coverage)}\n\n${summary(coverage, seconds())}\n`);
    process.stdout.write(missing.map((each) => `missing coverage: ${each}\n`).join(''));
    process.stdout.write(failures.map((each) => `${each}\n`).join(''));
  }
  process.exitCode = failures.length > 0 || missing.length > 0 ? 1 : 0;
}

async function runAlone(
  onProgress: (coverage: Coverage) => void,
): Promise<{ coverage: Coverage; failures: string[] }> {
  const { coverage, failure } = await runInThisProcess(onProgress);
  return { coverage, failures: failure === null ? [] : [describeFailure(failure)] };
}

if (options.worker) {
  await runAsWorker();
} else {
  await main();
}
