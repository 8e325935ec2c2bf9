import { readFileSync } from 'node:fs';
import { PROGRAM_ERRORS } from '@agent-rental/program-client';
import { marketplaceSoPath } from '@agent-rental/program-client/artifact';
import { describe, expect, test } from 'vitest';
import { runCampaign } from './campaign/campaign.js';
import { missingCoverage, reachableEndings, reachablePairs } from './campaign/expected-coverage.js';
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
    const reachable = INSTRUCTION_NAMES.flatMap(reachableEndings).length + reachablePairs().length;
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

test('each error of the program has its number', () => {
  const names = [...PROGRAM_ERRORS.values()].map(({ code, name }) => `${code} ${name}`);
  expect(names).toEqual([
    '6000 ListingNotActive',
    '6001 CredentialNotFound',
    '6002 CredentialExpired',
    '6003 InsufficientBalance',
    '6004 Unauthorized',
    '6005 InvalidAccessType',
    '6006 CredentialRevoked',
    '6007 WithdrawalExceedsBalance',
    '6008 FeeTooHigh',
    '6009 PriceTooLow',
    '6010 MetadataUriTooLong',
    '6011 InvalidDuration',
    '6012 DepositTooLow',
    '6013 ProtocolPaused',
    '6014 ArithmeticOverflow',
    '6015 EscrowNotEmpty',
    '6016 NothingToWithdraw',
    '6100 RunAlreadyConsumed',
    '6101 PriceAboveLimit',
    '6102 SequenceTooFar',
    '6103 ActiveSubscribers',
    '6104 PriceChanged',
  ]);
});
