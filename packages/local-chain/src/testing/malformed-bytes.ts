import { Keypair, PublicKey } from '@solana/web3.js';
import fc from 'fast-check';
import { memo, signed, transfer } from './transactions.js';

/** One call in so many sends, which runs the signature checks; the others simulate without them. */
const SEND_EVERY = 3;

/** Expected outcomes of a damaged transaction: an answer, or one of these refusals. */
export const EXPECTED_OUTCOMES: readonly (number | 'result')[] = ['result', -32602, -32002, -32003];

export function soundTransactions(payer: Keypair, blockhash: string): Buffer[] {
  const bob = Keypair.fromSeed(Buffer.alloc(32, 9)).publicKey;
  const lookupProgram = new PublicKey('AddressLookupTab1e1111111111111111111111111');
  return [
    signed(payer, blockhash, [transfer(payer.publicKey, bob, 1)]),
    signed(payer, blockhash, [memo('a'), transfer(payer.publicKey, bob, 2), memo('b'.repeat(200))]),
    signed(payer, blockhash, []),
    signed(payer, blockhash, [memo('', lookupProgram)]),
  ].map((transaction) => Buffer.from(transaction.serialize()));
}

/** One of the seeds with bytes overwritten, removed, inserted or cut off; or plain noise. */
export function malformedBytes(seeds: readonly Buffer[]): fc.Arbitrary<Buffer> {
  const edit = fc.record({
    kind: fc.constantFrom('overwrite', 'remove', 'insert', 'cut'),
    // Most of the structure is in the first bytes.
    at: fc.oneof(fc.integer({ min: 64, max: 110 }), fc.integer({ min: 0, max: 600 })),
    value: fc.oneof(fc.constantFrom(0, 1, 0x7f, 0x80, 0x81, 0xff), fc.integer({ min: 0, max: 255 })),
  });
  const edited = fc
    .tuple(fc.constantFrom(...seeds), fc.array(edit, { minLength: 1, maxLength: 4 }))
    .map(([seed, edits]) => {
      let bytes = Buffer.from(seed);
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
}

/** A batch of calls that hand the bytes to the runtime. */
export function batchOf(cases: readonly Buffer[]): string {
  const calls = cases.map((bytes, id) => {
    const send = id % SEND_EVERY === 0;
    return {
      jsonrpc: '2.0',
      id,
      method: send ? 'sendTransaction' : 'simulateTransaction',
      // Without signature checks the bytes reach deeper into the runtime.
      params: [
        bytes.toString('base64'),
        { encoding: 'base64', ...(send ? {} : { replaceRecentBlockhash: true }) },
      ],
    };
  });
  return JSON.stringify(calls);
}
