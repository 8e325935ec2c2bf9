import {
  AGENT_CONTACT_MINUTES,
  CHARGE_WAIT_SECONDS,
  CREDITS_PER_DAY,
  CURRENT_AFTER_HOURS,
  FILE_KEPT_HOURS,
  PREVIOUS_SECRET_HOURS,
  HEALTH_FAILING_DAYS,
  HEALTH_HIDDEN_DAYS,
  HEALTH_RUNS_PER_DAY,
  RESULT_KEPT_HOURS,
  RESULTS_KEPT_MIB,
  PROBES_PER_DAY,
  SAMPLE_RUNS_PER_DAY,
  SLOTS_PER_LISTING,
  SPENDING_WINDOW_HOURS,
  TOOL_WAIT_SECONDS,
  TRIALS_OF_ADDRESS_PER_DAY,
  TRIALS_OF_LISTING_PER_DAY,
  TRIALS_OF_LISTING_PER_HOUR,
  TRIALS_OF_WALLET_PER_DAY,
  TRIAL_WALLET_LAMPORTS,
} from '@agent-rental/contract';
import { expect, test } from 'vitest';
import { namesIn, readText } from './repository.js';

/** Where documents and docstrings tell the numbers of `packages/contract/src/limits.ts`. */
const TOLD: [path: string, phrases: string[]][] = [
  [
    'docs/architecture.md',
    [
      `removed after ${RESULT_KEPT_HOURS} hours by a job`,
      `A caller waits ${CHARGE_WAIT_SECONDS} s for that`,
      `P: 3 slot: one of ${SLOTS_PER_LISTING}, or the queue`,
      `| 3 slot: one of ${SLOTS_PER_LISTING}, or the queue |`,
    ],
  ],
  ['docs/creators.md', [`for ${PREVIOUS_SECRET_HOURS} hours after a rotation`]],
  ['docs/glossary.md', [`one of the ${SLOTS_PER_LISTING} runs that a listing may have at once`]],
  ['docs/money.md', [`at most ${CREDITS_PER_DAY} credits a day`]],
  [
    'docs/creators.md',
    [
      `at most ${HEALTH_RUNS_PER_DAY} for all your listings`,
      `After ${HEALTH_FAILING_DAYS} nights in a row that failed`,
      `after ${HEALTH_HIDDEN_DAYS}, search leaves it out`,
      `at most ${TRIALS_OF_LISTING_PER_DAY} such runs in 24 hours, and ${TRIALS_OF_WALLET_PER_DAY} for a wallet`,
      `An hour has at most ${TRIALS_OF_LISTING_PER_HOUR}, an address ${TRIALS_OF_ADDRESS_PER_DAY}`,
      `or must have held ${Number(TRIAL_WALLET_LAMPORTS) / 1e9} SOL for an hour`,
    ],
  ],
  [
    'docs/operations.md',
    [
      `one of its ${SLOTS_PER_LISTING} slots`,
      `fewer than ${SLOTS_PER_LISTING} concurrent runs`,
      `cancelled keys for ${RESULT_KEPT_HOURS} hours`,
      `listings get at most ${HEALTH_RUNS_PER_DAY} nightly runs in 24 hours`,
      `Results of runs and files are sealed and kept for ${RESULT_KEPT_HOURS} hours`,
      `Results are at most ${RESULTS_KEPT_MIB} MiB per wallet and per listing`,
      `have at most ${SAMPLE_RUNS_PER_DAY} sample runs and ${PROBES_PER_DAY} probes in 24 hours`,
    ],
  ],
  [
    'docs/threat-model.md',
    [
      `sealed in the database, for ${RESULT_KEPT_HOURS} hours`,
      `64 MiB of files for ${FILE_KEPT_HOURS} hours, and ${RESULTS_KEPT_MIB} MiB of results`,
      `stays counted for its ${SPENDING_WINDOW_HOURS} hours`,
      `was not reached for ${AGENT_CONTACT_MINUTES} minutes`,
      `at most ${CREDITS_PER_DAY} credits a day`,
      `have 16 of ${SLOTS_PER_LISTING} seats`,
      `for samples ${SAMPLE_RUNS_PER_DAY} times a day`,
    ],
  ],
  ['docs/wallets.md', [`the lamports within any ${SPENDING_WINDOW_HOURS} hours`]],
  ['packages/contract/src/rentals/credential.ts', [`expired more than ${CURRENT_AFTER_HOURS} hours ago`]],
  ['packages/contract/src/identity/identity.ts', [`The most within any ${SPENDING_WINDOW_HOURS} hours`]],
  [
    'packages/mcp-server/README.md',
    [
      `A call answers within ${TOOL_WAIT_SECONDS} s (\`AGENT_RENTAL_WAIT_SECONDS\`)`,
      `as a task, for ${RESULT_KEPT_HOURS} hours`,
    ],
  ],
  ['packages/mcp-server/src/rental-server-options.ts', [`Default ${TOOL_WAIT_SECONDS} s`]],
  [
    'packages/sdk/src/client.ts',
    [`Results are kept for ${RESULT_KEPT_HOURS} hours`, `at most 8 MiB, kept for ${FILE_KEPT_HOURS} hours`],
  ],
  ['packages/tools/README.md', [`total spend within any ${SPENDING_WINDOW_HOURS} hours`]],
  ['packages/tools/src/spending/policy.ts', [`The most within any ${SPENDING_WINDOW_HOURS} hours`]],
];

test.each(TOLD)('%s tells the limits that hold', (path, phrases) => {
  const text = readText(path).replaceAll(/\s+(?:\* )?/g, ' ');
  expect(phrases.filter((phrase) => !text.includes(phrase))).toEqual([]);
});

test('the pages of clients tell the time until a call is answered', () => {
  const told = namesIn('docs/clients', 'file').flatMap((name) =>
    [
      ...readText(`docs/clients/${name}`).matchAll(
        /A run of more than (\d+) s is answered|A call is answered within (\d+) s/g,
      ),
    ].map(([, run, call]) => run ?? call),
  );
  expect(told.length).toBeGreaterThan(10);
  expect(new Set(told)).toEqual(new Set([`${TOOL_WAIT_SECONDS}`]));
});
