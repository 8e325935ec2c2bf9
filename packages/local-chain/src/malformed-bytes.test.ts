import { Keypair, LAMPORTS_PER_SOL, PublicKey } from '@solana/web3.js';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startFixture, type ChainFixture, type RpcAnswer } from './testing/chain-fixture.js';
import { memo, signed, transfer } from './testing/transactions.js';

const CASES = 4_000;
const CALLS_PER_BATCH = 100;
/** What may come of bytes that are no longer the transaction that was signed. */
const EXPECTED_OUTCOMES = ['result', -32602, -32002, -32003];

describe('transaction bytes that nobody can have meant', () => {
  let fixture: ChainFixture;
  let seeds: Buffer[];

  beforeAll(async () => {
    fixture = await startFixture();
    const alice = await fixture.fundedWallet(LAMPORTS_PER_SOL);
    const { blockhash } = await fixture.connection.getLatestBlockhash();
    const bob = Keypair.generate().publicKey;
    const small = signed(alice, blockhash, [transfer(alice.publicKey, bob, 1)]);
    const two = signed(alice, blockhash, [
      memo('a'),
      transfer(alice.publicKey, bob, 2),
      memo('b'.repeat(200)),
    ]);
    const empty = signed(alice, blockhash, []);
    const programOf = new PublicKey('AddressLookupTab1e1111111111111111111111111');
    const odd = signed(alice, blockhash, [memo('', programOf)]);
    seeds = [small, two, empty, odd].map((transaction) => Buffer.from(transaction.serialize()));
  });
  afterAll(() => fixture.stop());

  /** One of the seeds with bytes overwritten, removed, inserted or cut off; or plain noise. */
  const hostileBytes = (): fc.Arbitrary<Buffer> => {
    const edit = fc.record({
      kind: fc.constantFrom('overwrite', 'remove', 'insert', 'cut'),
      // Most of the structure is in the first bytes.
      at: fc.oneof(fc.integer({ min: 64, max: 110 }), fc.integer({ min: 0, max: 600 })),
      value: fc.oneof(fc.constantFrom(0, 1, 0x7f, 0x80, 0x81, 0xff), fc.integer({ min: 0, max: 255 })),
    });
    const edited = fc
      .tuple(fc.integer({ min: 0, max: 3 }), fc.array(edit, { minLength: 1, maxLength: 4 }))
      .map(([seed, edits]) => {
        let bytes = Buffer.from(seeds[seed] ?? []);
        for (const { kind, at, value } of edits) {
          const where = at % Math.max(1, bytes.length);
          if (kind === 'overwrite') bytes[where] = value;
          if (kind === 'remove') bytes = Buffer.concat([bytes.subarray(0, where), bytes.subarray(where + 1)]);
          if (kind === 'cut') bytes = bytes.subarray(0, where);
          if (kind === 'insert') {
            bytes = Buffer.concat([bytes.subarray(0, where), Buffer.from([value]), bytes.subarray(where)]);
          }
        }
        return bytes;
      });
    return fc.oneof(
      { weight: 9, arbitrary: edited },
      fc.uint8Array({ maxLength: 300 }).map((noise) => Buffer.from(noise)),
    );
  };

  it(`are refused or simulated, ${CASES} times, by a chain that stays up`, { timeout: 120_000 }, async () => {
    const { pid } = fixture.chain;
    const cases = fc.sample(hostileBytes(), { numRuns: CASES, seed: 20_231 });
    const seen = new Map<number | 'result', number>();
    for (let at = 0; at < cases.length; at += CALLS_PER_BATCH) {
      const batch = cases.slice(at, at + CALLS_PER_BATCH).map((bytes, index) => ({
        jsonrpc: '2.0',
        id: index,
        method: index % 3 === 0 ? 'sendTransaction' : 'simulateTransaction',
        params: [
          bytes.toString('base64'),
          // Without signature checks the bytes reach deeper into the runtime.
          index % 3 === 0 ? { encoding: 'base64' } : { encoding: 'base64', replaceRecentBlockhash: true },
        ],
      }));
      const { text } = await fixture.post(JSON.stringify(batch));
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
    for (const bytes of fc.sample(hostileBytes(), { numRuns: 200, seed: 7 })) {
      const answer = await fixture.rpc('getFeeForMessage', bytes.toString('base64'));
      expect([undefined, -32602]).toContain(answer.error?.code);
    }
  });
});
