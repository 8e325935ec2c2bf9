/**
 * Throws malformed bytes at a real chain process: damaged transactions, and damaged request bodies. Prints
 * `N tries, A aborts` and the answers. Exits non-zero when the process ended even once or an answer was not expected.
 *
 * `npm run fuzz -- rpc [--tries 100000] [--seed 1]`. The same seed gives the same tries.
 */
import { parseArgs } from 'node:util';
import { LAMPORTS_PER_SOL } from '@solana/web3.js';
import fc from 'fast-check';
import { startFixture, type RpcAnswer } from './chain-fixture.js';
import { batchOf, EXPECTED_OUTCOMES, malformedBytes, soundTransactions } from './malformed-bytes.js';

const CALLS_PER_BATCH = 100;
/** In each batch so many tries damage the text of a request instead of a transaction. */
const TEXTS_PER_BATCH = 10;
const REPORTS = 10;

const { values } = parseArgs({
  options: { tries: { type: 'string', default: '100000' }, seed: { type: 'string', default: '1' } },
});
const [tries, seed] = [Number(values.tries), Number(values.seed)];
if (!Number.isSafeInteger(tries) || tries < 1 || !Number.isInteger(seed)) {
  throw new Error('--tries is a positive integer, --seed an integer');
}

const fixture = await startFixture();
const alice = await fixture.fundedWallet(LAMPORTS_PER_SOL);
const outcomes = new Map<string, number>();
const unexpected: string[] = [];
let done = 0;
let aborts = 0;
let { pid } = fixture.chain;

const startedMs = Date.now();
for (let batch = 0; done < tries; batch += 1) {
  const size = Math.min(CALLS_PER_BATCH, tries - done);
  const texts = Math.min(TEXTS_PER_BATCH, size - 1);
  // A blockhash that has expired would turn every try away before it reaches the runtime.
  const { blockhash } = await fixture.connection.getLatestBlockhash();
  const bytes = malformedBytes(soundTransactions(alice, blockhash));
  const transactions = batchOf(fc.sample(bytes, { numRuns: size - texts, seed: seed + batch }));
  // A damaged text may request anything, so any answer is fine; damaged bytes have expected answers.
  await hand(transactions, EXPECTED_OUTCOMES);
  const damagedTexts = fc.sample(malformedBytes([Buffer.from(transactions.slice(1, 600))]), {
    numRuns: texts,
    seed: seed + batch,
  });
  for (const text of damagedTexts) await hand(text.toString('utf8'), null);
  done += size;
  if (fixture.chain.pid !== pid) {
    aborts += 1;
    pid = fixture.chain.pid;
  }
  if (batch % Math.ceil(tries / CALLS_PER_BATCH / REPORTS) === 0) process.stderr.write(`${done} tries\n`);
}
aborts = Math.max(aborts, fixture.logs.filter(({ msg }) => msg === 'the chain crashed').length);
await fixture.stop();

const seconds = Math.round((Date.now() - startedMs) / 1000);
say(`${done} tries, ${aborts} aborts (seed ${seed}, ${seconds} s)`);
say(JSON.stringify(Object.fromEntries(outcomes)));
for (const text of unexpected.slice(0, 10)) say(`unexpected: ${text}`);
if (aborts > 0 || unexpected.length > 0) process.exitCode = 1;

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

async function hand(body: string, expected: readonly (number | 'result')[] | null): Promise<void> {
  try {
    const { text } = await fixture.post(body);
    const parsed = text === '' ? [] : (JSON.parse(text) as RpcAnswer | RpcAnswer[]);
    for (const answer of Array.isArray(parsed) ? parsed : [parsed]) {
      const outcome = answer.error?.code ?? 'result';
      outcomes.set(String(outcome), (outcomes.get(String(outcome)) ?? 0) + 1);
      // -32603 is a fault of the chain, for any request.
      if (outcome === -32_603 || expected?.includes(outcome) === false)
        unexpected.push(JSON.stringify(answer));
    }
  } catch (error) {
    // The process ended during the request; it is counted when its replacement runs.
    unexpected.push(String(error));
  }
}
