import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { policyVectors, type DecodedCost } from './testing/policy-vectors.js';

const FOLDER = new URL('../../../python/tests/vectors/', import.meta.url);
const POLICIES = 1_000;
const PAYING = ['rent', 'topup', 'renew'];

/** The different costs of the accepted payments, by their line. `packages/sdk/src/python-vectors.test.ts` writes the file. */
async function decodedCosts(): Promise<Map<number, DecodedCost>> {
  const lines = (await readFile(new URL('proposals.jsonl', FOLDER), 'utf8')).trimEnd().split('\n');
  const costs = new Map<string, [number, DecodedCost]>();
  for (const [number, line] of lines.entries()) {
    const vector = JSON.parse(line) as { request: { action: string }; answer: { quote?: DecodedCost } };
    const { quote } = vector.answer;
    if (quote && PAYING.includes(vector.request.action))
      costs.set(`${quote.total_lamports} ${quote.max_run_lamports}`, [number, quote]);
  }
  return new Map(costs.values());
}

// The Python package's tests play the same file. `npx vitest run packages/tools/src/spending/python-policies.test.ts -u` writes it.
it('gives the same answers to the policies that the Python package plays [REN-4]', async () => {
  const vectors = await policyVectors(POLICIES, await decodedCosts());
  const given = vectors.flatMap(({ answers }) => answers);
  const refused = new Set(given.map((answer) => ('refused' in answer ? answer.refused : 'counted')));
  expect([...refused].toSorted()).toEqual([
    'approval_required',
    'ask_above',
    'counted',
    'listing_ids',
    'max_day',
    'max_listing',
    'max_run',
  ]);
  const lines = vectors.map((one) => `${JSON.stringify(one)}\n`).join('');
  await expect(lines).toMatchFileSnapshot(fileURLToPath(new URL('policies.jsonl', FOLDER)));
});
