import { describe, expect, it } from 'vitest';
import { receiptVectors } from './receipts/testing/receipt-vectors.js';
import { proposalVectors } from './solana/testing/proposal-vectors.js';

const FOLDER = '../../python/tests/vectors';
const PROPOSALS = 1_000;

/** One line for each vector. */
const linesOf = (vectors: readonly object[]) => vectors.map((one) => `${JSON.stringify(one)}\n`).join('');

// The Python package's tests play the same files. `npx vitest run packages/sdk/src/python-vectors.test.ts -u` writes them.
describe('the answers of the vectors that the Python package plays', () => {
  it('to proposals good and bad are the same here [TXN-16]', async () => {
    const vectors = proposalVectors(PROPOSALS);
    const accepted = vectors.filter(({ answer }) => 'quote' in answer).length;
    expect(accepted).toBeGreaterThan(PROPOSALS / 5);
    await expect(linesOf(vectors)).toMatchFileSnapshot(`${FOLDER}/proposals.jsonl`);
  });

  it('to receipts good and bad are the same here [MON-32]', async () => {
    await expect(linesOf(await receiptVectors())).toMatchFileSnapshot(`${FOLDER}/receipts.jsonl`);
  });
});
