import { readFileSync } from 'node:fs';
import { marketplaceSoPath } from '@agent-rental/program-client/artifact';
import { describe, expect, test } from 'vitest';
import { runCampaign } from './campaign/campaign.js';
import { missingCoverage, reachablePairs, reachableVerdicts } from './campaign/expected-coverage.js';
import { minimise } from './campaign/minimise.js';
import { INSTRUCTION_NAMES } from './model/instruction-table.js';
import { describeFailure } from './campaign/report.js';
import { FORM, IS_QUICK } from '@agent-rental/test/support/form';

const SEED = 1;
const INSTRUCTIONS = { quick: 5_000, sample: 20_000, full: 200_000 }[FORM];

/** Of what a long run sees a hundred times, a short one may miss a few. */
const MISSED_PERCENT = 2;

const so = readFileSync(process.env['MARKETPLACE_SO'] ?? marketplaceSoPath());

describe('random sequences of instructions', () => {
  test('end as the model says and keep every invariant; in full, reach what can be reached [PRG-35, PRG-12]', async () => {
    const { coverage, failure } = await runCampaign({ so, seed: SEED, instructions: INSTRUCTIONS });
    expect(failure === null ? null : describeFailure(failure)).toBeNull();
    expect(coverage.instructions).toBeGreaterThanOrEqual(INSTRUCTIONS);
    if (IS_QUICK) return;
    const missing = missingCoverage(coverage, 1, 1);
    const reachable = INSTRUCTION_NAMES.flatMap(reachableVerdicts).length + reachablePairs().length;
    expect(missing.length, missing.join('\n')).toBeLessThan((reachable * MISSED_PERCENT) / 100);
  });

  test('are the same for the same seed, and others for another', async () => {
    const run = async (seed: number): Promise<string> =>
      JSON.stringify((await runCampaign({ so, seed, instructions: 1_000 })).coverage);
    const first = await run(7);
    expect(await run(7)).toBe(first);
    expect(await run(8)).not.toBe(first);
  });
});

describe('minimising', () => {
  test('keeps what is needed and nothing else, in its order', () => {
    const sequence = Array.from({ length: 100 }, (_, index) => index);
    const isBad = (tried: readonly number[]): boolean =>
      tried.includes(91) && tried.indexOf(17) < tried.indexOf(63) && tried.includes(17);
    expect(minimise(sequence, isBad)).toEqual([17, 63, 91]);
  });
});
