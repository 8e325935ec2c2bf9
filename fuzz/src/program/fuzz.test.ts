import { readFileSync } from 'node:fs';
import { MARKETPLACE_IDL, PROGRAM_ERRORS } from '@agent-rental/program-client';
import { marketplaceSoPath } from '@agent-rental/program-client/artifact';
import { describe, expect, test, vi } from 'vitest';
import { runCampaign } from './campaign/campaign.js';
import { missingCoverage, reachableEndings, reachablePairs } from './campaign/expected-coverage.js';
import { INSTRUCTION_NAMES } from './model/instruction-table.js';
import { describeFailure } from './campaign/report.js';
import { Chain } from './world/chain.js';
import { FORM, IS_QUICK } from '@agent-rental/test/support/form';

const SEED = 1;
const INSTRUCTIONS = { quick: 5_000, sample: 22_000, full: 200_000 }[FORM];

/** The share of reachable endings and pairs that a short run may miss. */
const MISSED_PERCENT = 2;

const so = readFileSync(process.env['MARKETPLACE_SO'] ?? marketplaceSoPath());

describe('random sequences of instructions', () => {
  test('end as the model predicts and keep every invariant; in full, reach every ending [PRG-35, PRG-12]', async () => {
    const { coverage, failure } = await runCampaign({ so, seed: SEED, instructions: INSTRUCTIONS });
    expect(failure === null ? null : describeFailure(failure)).toBeNull();
    expect(coverage.instructions).toBeGreaterThanOrEqual(INSTRUCTIONS);
    if (IS_QUICK) return;
    const missing = missingCoverage(coverage, 1, 1);
    const reachable = INSTRUCTION_NAMES.flatMap(reachableEndings).length + reachablePairs().length;
    expect(missing.length, missing.join('\n')).toBeLessThan((reachable * MISSED_PERCENT) / 100);
  });

  test('are the same for the same seed, and differ for another seed', async () => {
    const run = async (seed: number): Promise<string> =>
      JSON.stringify((await runCampaign({ so, seed, instructions: 1_000 })).coverage);
    const first = await run(7);
    expect(await run(7)).toBe(first);
    expect(await run(8)).not.toBe(first);
  });
});

test('a violation is reported with a short sequence that repeats it', async () => {
  const { send } = Chain.prototype;
  const broken = vi.spyOn(Chain.prototype, 'send').mockImplementation(function (this: Chain, ...sent) {
    const outcome = send.apply(this, sent);
    return outcome.returned.length > 0 ? { ...outcome, returned: Uint8Array.of(1) } : outcome;
  });
  const { failure } = await runCampaign({ so, seed: SEED, instructions: 2_000 });
  broken.mockRestore();
  expect(failure?.step).toBeGreaterThan(1);
  const [message, sequence, ...steps] = failure === null ? [] : describeFailure(failure).split('\n');
  expect(message).toBe('violation: verify_access: the program returns [1], the model [0]');
  expect(sequence).toMatch(/^seed 1, world \d+, step \d+; 1 steps are enough:$/);
  expect(steps).toEqual([expect.stringContaining('1. verify_access(buyer=')]);
});

test('the model has every instruction of the program', () => {
  const names = MARKETPLACE_IDL.instructions.map(({ name }) => name);
  expect(INSTRUCTION_NAMES.toSorted()).toEqual(names.toSorted());
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
