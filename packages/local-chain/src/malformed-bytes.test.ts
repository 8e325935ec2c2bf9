import { LAMPORTS_PER_SOL } from '@solana/web3.js';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startFixture, type ChainFixture, type RpcAnswer } from './testing/chain-fixture.js';
import { batchOf, EXPECTED_OUTCOMES, malformedBytes, soundTransactions } from './testing/malformed-bytes.js';

/** `npm run fuzz -- rpc` has many more. */
const CASES = 4_000;
const CALLS_PER_BATCH = 100;

describe('malformed transaction bytes', () => {
  let fixture: ChainFixture;
  let seeds: Buffer[];

  beforeAll(async () => {
    fixture = await startFixture();
    const alice = await fixture.fundedWallet(LAMPORTS_PER_SOL);
    seeds = soundTransactions(alice, (await fixture.connection.getLatestBlockhash()).blockhash);
  });
  afterAll(() => fixture.stop());

  it(`are refused or simulated, ${CASES} times, by a chain that stays up`, { timeout: 120_000 }, async () => {
    const { pid } = fixture.chain;
    const cases = fc.sample(malformedBytes(seeds), { numRuns: CASES, seed: 20_231 });
    const seen = new Map<number | 'result', number>();
    for (let at = 0; at < cases.length; at += CALLS_PER_BATCH) {
      const { text } = await fixture.post(batchOf(cases.slice(at, at + CALLS_PER_BATCH)));
      for (const answer of JSON.parse(text) as RpcAnswer[]) {
        const outcome = answer.error?.code ?? 'result';
        expect(EXPECTED_OUTCOMES).toContain(outcome);
        seen.set(outcome, (seen.get(outcome) ?? 0) + 1);
      }
    }
    expect(fixture.chain.pid).toBe(pid);
    expect((await fixture.rpc('getHealth')).result).toBe('ok');
    // The fuzzer reaches the parser's refusals and the runtime behind it.
    expect(seen.get(-32602)).toBeGreaterThan(CASES / 10);
    expect(seen.get('result')).toBeGreaterThan(CASES / 20);
  });

  it('are refused as messages too', async () => {
    for (const bytes of fc.sample(malformedBytes(seeds), { numRuns: 200, seed: 7 })) {
      const answer = await fixture.rpc('getFeeForMessage', bytes.toString('base64'));
      expect([undefined, -32602]).toContain(answer.error?.code);
    }
  });
});
