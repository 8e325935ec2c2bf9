import {
  AGENT_CONTACT_MINUTES,
  CHARGE_WAIT_SECONDS,
  FILE_KEPT_HOURS,
  RESULT_KEPT_HOURS,
  SAMPLE_RUNS_PER_DAY,
  SPENDING_WINDOW_HOURS,
  TOOL_WAIT_SECONDS,
} from '@agent-rental/contract';
import { expect, test } from 'vitest';
import { readText } from './repository.js';

/** Where documents and docstrings tell the numbers of `packages/contract/src/limits.ts`. */
const TOLD: [path: string, phrases: string[]][] = [
  [
    'docs/architecture.md',
    [`removed after ${RESULT_KEPT_HOURS} hours by a job`, `A caller waits ${CHARGE_WAIT_SECONDS} s for that`],
  ],
  [
    'docs/operations.md',
    [
      `Results of runs and files are sealed and kept for ${RESULT_KEPT_HOURS} hours`,
      `run for samples at most ${SAMPLE_RUNS_PER_DAY} times in 24 hours`,
    ],
  ],
  [
    'docs/threat-model.md',
    [
      `sealed in the database, for ${RESULT_KEPT_HOURS} hours`,
      `64 MiB of files for ${FILE_KEPT_HOURS} hours`,
      `stays counted for its ${SPENDING_WINDOW_HOURS} hours`,
      `was not reached for ${AGENT_CONTACT_MINUTES} minutes`,
    ],
  ],
  ['docs/wallets.md', [`what goes within any ${SPENDING_WINDOW_HOURS} hours`]],
  ['packages/contract/src/identity/identity.ts', [`The most within any ${SPENDING_WINDOW_HOURS} hours`]],
  [
    'packages/mcp-server/README.md',
    [`A call answers within ${TOOL_WAIT_SECONDS} s (\`AGENT_RENTAL_WAIT_SECONDS\`)`],
  ],
  ['packages/mcp-server/src/rental-server-options.ts', [`Default ${TOOL_WAIT_SECONDS} s`]],
  [
    'packages/sdk/src/client.ts',
    [`Results are kept for ${RESULT_KEPT_HOURS} hours`, `at most 8 MiB, kept for ${FILE_KEPT_HOURS} hours`],
  ],
  ['packages/tools/README.md', [`what goes within any ${SPENDING_WINDOW_HOURS} hours`]],
  ['packages/tools/src/spending/policy.ts', [`The most within any ${SPENDING_WINDOW_HOURS} hours`]],
];

test.each(TOLD)('%s tells the limits that hold', (path, phrases) => {
  const text = readText(path).replaceAll(/\s+(?:\* )?/g, ' ');
  expect(phrases.filter((phrase) => !text.includes(phrase))).toEqual([]);
});
