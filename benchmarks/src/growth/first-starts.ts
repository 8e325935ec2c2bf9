import { MARKETPLACE_PROGRAM_ID, topupBalance } from '@agent-rental/program-client';
import {
  openServerParts,
  openTestDatabase,
  startTestMarket,
  type TestMarket,
} from '@agent-rental/server/testing';
import { Transaction } from '@solana/web3.js';
import type { Sheet } from '../report.js';
import { timed } from '../harness/turns.js';
import { addRatio } from './comparison.js';
import type { Sizes } from './sizes.js';

/** The largest ratio of first starts with a long and a short history. */
const MOST = 3;
const PRICE_LAMPORTS = 1_000_000n;
const DEPOSIT_LAMPORTS = 10_000_000n;
const SENT_AT_ONCE = 16;
/** Transactions with the same blockhash. */
const PER_BLOCKHASH = 1_000;
const SMALL_STARTS = 3;

/** Measures the index of a first start, with a short and a long history on the chain. */
export async function measureFirstStarts({ transactions, times }: Sizes, sheet: Sheet): Promise<void> {
  const database = await openTestDatabase();
  const market = await startTestMarket(database);
  try {
    const topUps = await openTopUps(market);
    await topUps.until(transactions);
    const small: number[] = [];
    for (let start = 0; start < SMALL_STARTS; start += 1) small.push(await firstStart(market));
    sheet.progress(`Making ${transactions * times} transactions`);
    await topUps.until(transactions * times);
    const large = [await firstStart(market)];
    const what = `the index of a first start, ${transactions} and ${transactions * times} transactions`;
    addRatio(sheet, what, { small, large, times, most: MOST });
  } finally {
    await market.close();
    await database.close();
  }
}

async function firstStart(market: TestMarket): Promise<number> {
  const database = await openTestDatabase();
  const parts = openServerParts(database.url, market.connection.rpcEndpoint);
  try {
    return await timed(() => parts.catchUp());
  } finally {
    await parts.close();
    await database.close();
  }
}

/** Makes transactions of the program: top-ups of one balance with different amounts. */
async function openTopUps(market: TestMarket): Promise<{ until(count: number): Promise<void> }> {
  const listing = await market.list(PRICE_LAMPORTS);
  const buyer = await market.rent(listing, DEPOSIT_LAMPORTS, PRICE_LAMPORTS);
  let made = 0;
  const send = async (amount: number, blockhash: string): Promise<void> => {
    const transaction = new Transaction({ feePayer: buyer.publicKey, recentBlockhash: blockhash });
    transaction.add(
      topupBalance({
        buyer: buyer.publicKey,
        listingId: listing.id,
        amountLamports: BigInt(amount),
        maxPriceLamports: PRICE_LAMPORTS,
        programId: MARKETPLACE_PROGRAM_ID,
      }),
    );
    transaction.sign(buyer);
    await market.connection.sendRawTransaction(transaction.serialize(), { skipPreflight: true });
  };
  return {
    async until(count) {
      for (let first = made; first < count; first = made) {
        const { blockhash } = await market.connection.getLatestBlockhash();
        const end = Math.min(count, first + PER_BLOCKHASH);
        await Promise.all(
          Array.from({ length: SENT_AT_ONCE }, async () => {
            while (made < end) await send((made += 1), blockhash);
          }),
        );
      }
      await market.finalize();
    },
  };
}
