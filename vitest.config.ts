import { execFileSync } from 'node:child_process';
import { defineConfig } from 'vitest/config';
import { readdirSync } from 'node:fs';
import { sampleOf } from './test/src/support/form.js';
import { requirements } from './test/src/requirements/vitest-plugin.js';
import { SlowFirst } from './test/src/run-report/slow-first.js';
import { makeTemporaryFolder } from './test/src/run-report/temporary-folder.js';
import { slowestFiles } from './test/src/run-report/slowest-files.js';

// Test files inherit both. A commit has one seed, so that a failure in CI repeats in a clone.
process.env['TEST_FORM'] ??= process.env['CI'] === undefined ? 'quick' : 'sample';
const isQuick = process.env['TEST_FORM'] === 'quick';
process.env['TEST_SEED'] ??= `${seedOfCommit()}`;

// Tests of this run have their state folders there.
process.env['TEST_FOLDER'] ??= makeTemporaryFolder();

function seedOfCommit(): number {
  try {
    const commit = execFileSync('git', ['rev-parse', 'HEAD'], { encoding: 'utf8', stdio: 'pipe' });
    return Number.parseInt(commit.slice(0, 7), 16);
  } catch {
    // A copy without git.
    return 1;
  }
}

/** The tests of money that also run with tower: in CI a sample of them. */
const moneyFiles = sampleOf(
  readdirSync('test/src/money')
    .filter((file) => file.endsWith('.test.ts'))
    .map((file) => `test/src/money/${file}`),
  2,
  Number(process.env['TEST_SEED']),
);

/** Files that `scripts/test.mjs` leaves to CI. */
const leftOut = (process.env['TESTS_LEFT_OUT'] ?? '').split(',').filter(Boolean);

const plugins = [requirements({ isPart: leftOut.length > 0 }), slowestFiles()];

const common = {
  exclude: leftOut,
  testTimeout: 60_000,
  hookTimeout: 120_000,
  // What is awaited comes when it comes: a busy machine is no failure.
  expect: { poll: { timeout: 15_000 } },
  // Retrying hides a bug in the code or in the test.
  retry: 0,
};

/** Tests that wait for a chain or a server for a quarter of their time: a third worker uses that time on two cores. */
const waiting = { maxWorkers: 3, sequence: { groupOrder: 1 } };

export default defineConfig({
  test: {
    // Two cores: more workers than that make the slow tests of CI starve each other.
    maxWorkers: isQuick ? 3 : 2,
    sequence: { sequencer: SlowFirst },
    projects: [
      {
        plugins,
        test: {
          ...common,
          name: 'unit',
          // Files share the modules of their process: loading them again took a third of the time.
          isolate: false,
          include: [
            'packages/!(sandbox)/src/**/*.test.ts',
            'server/src/**/*.test.ts',
            'examples/src/**/*.test.ts',
            'test/src/requirements/*.test.ts',
            'test/src/support/**/*.test.ts',
            'scripts/*.test.mjs',
            'conformance/src/{schemas,adapters}/*.test.ts',
            'resilience/src/deno-api-sweep/*.test.ts',
            'test/src/docs/**/*.test.ts',
          ],
          globalSetup: ['test/src/support/shared-database.ts'],
        },
      },
      {
        plugins,
        test: {
          ...common,
          name: 'sandbox',
          // A process of its own for each file: what other tests left in memory would show as a blocked event loop.
          include: ['packages/sandbox/src/**/*.test.ts'],
        },
      },
      {
        plugins,
        test: {
          ...common,
          name: 'program',
          isolate: false,
          include: ['test/src/program-clients/*.test.ts', 'fuzz/src/program/**/*.test.ts'],
          testTimeout: 120_000,
        },
      },
      {
        plugins,
        test: {
          ...common,
          name: 'end-to-end',
          // Measurements of the full form have a process of their own.
          isolate: process.env['TEST_FORM'] === 'full',
          include: [
            'test/src/**/*.test.ts',
            ...(isQuick
              ? []
              : [
                  'benchmarks/src/**/*.test.ts',
                  'fuzz/src/api/*.test.ts',
                  'conformance/src/mcp/*.test.ts',
                  'resilience/src/**/*.test.ts',
                ]),
          ],
          exclude: [
            ...leftOut,
            'test/src/docs/**',
            'test/src/requirements/**',
            'test/src/support/**',
            'test/src/program-clients/**',
            'resilience/src/deno-api-sweep/**',
            'resilience/src/faults/**',
            'resilience/src/plans/**',
            'resilience/src/replicas/**',
            'benchmarks/src/growth/**',
            'benchmarks/src/replicas/**',
          ],
          globalSetup: ['test/src/support/global-setup.ts'],
          ...waiting,
        },
      },
      // As on a cluster that has not moved to Alpenglow. The same files run on a moved one in `end-to-end`.
      ...(isQuick
        ? []
        : [
            {
              plugins,
              test: {
                ...common,
                name: 'money with tower',
                include: moneyFiles,
                env: { LOCAL_CHAIN_CONSENSUS: 'tower' },
                globalSetup: ['test/src/support/global-setup.ts'],
                ...waiting,
              },
            },
            {
              plugins,
              test: {
                ...common,
                name: 'faults',
                isolate: process.env['TEST_FORM'] === 'full',
                include: [
                  'resilience/src/{faults,plans,replicas}/**/*.test.ts',
                  'benchmarks/src/{growth,replicas}/*.test.ts',
                ],
                // After all others: they start dozens of servers and fill databases, and tests beside them that count seconds would fail.
                sequence: { groupOrder: 2 },
              },
            },
          ]),
    ],
  },
});
