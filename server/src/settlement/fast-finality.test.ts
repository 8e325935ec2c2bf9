import { decodePerQueryBalance } from '@agent-rental/program-client';
import { PublicKey, type Keypair } from '@solana/web3.js';
import { afterAll, describe, expect, it } from 'vitest';
import {
  balanceAddressOf,
  openTestDatabase,
  startTestMarket,
  type MarketListing,
  type TestMarket,
} from '../testing/index.js';
import type { ReservedCharge } from './charge.js';

const PRICE = 1_000_000n;
const DEPOSIT = 10n * PRICE;
const due = Promise.resolve(true);

const database = await openTestDatabase();
const fast = await startTestMarket(database, { consensus: 'alpenglow', slotTimeMs: 100 });
const moving = await startTestMarket(database, { consensus: 'tower', slotTimeMs: 100 });
afterAll(async () => {
  await Promise.all([fast.close(), moving.close()]);
  await database.close();
});

async function renterOf(market: TestMarket): Promise<{ listing: MarketListing; renter: Keypair }> {
  const listing = await market.list(PRICE);
  return { listing, renter: await market.rent(listing, DEPOSIT, PRICE) };
}

const reserve = (market: TestMarket, { listing, renter }: Awaited<ReturnType<typeof renterOf>>) =>
  market.reserve(listing, renter.publicKey, PRICE);

/** The level of the only transaction of a charge, as the RPC tells it. */
async function levelOf(market: TestMarket, { run_id: id }: ReservedCharge): Promise<string | undefined> {
  const [signature = ''] = await market.charges.signaturesOf(id);
  const { value } = await market.connection.getSignatureStatus(signature);
  return value?.confirmationStatus;
}

const stateOf = async (market: TestMarket, { run_id: id }: ReservedCharge) =>
  (await market.charges.find(id))?.state;

async function spent(market: TestMarket, { listing, renter }: Awaited<ReturnType<typeof renterOf>>) {
  const address = new PublicKey(balanceAddressOf(renter.publicKey.toBase58(), listing.address));
  const account = await market.connection.getAccountInfo(address, 'processed');
  return account === null ? 0n : DEPOSIT - decodePerQueryBalance(account.data).balanceLamports;
}

describe('a charge on a cluster with fast finality', () => {
  it('lets output leave once it is final, and is not watched after the next round', async () => {
    const rented = await renterOf(fast);
    const charge = await reserve(fast, rented);
    expect(await fast.settlement().charge(charge, due).confirmed).toBe(PRICE);
    expect(await levelOf(fast, charge)).toBe('finalized');
    // Its balance is stored as final: the index does not read it again.
    const address = balanceAddressOf(rented.renter.publicKey.toBase58(), rented.listing.address);
    const waiting = database.db.selectFrom('unfinalized_accounts').where('address', '=', address);
    expect(await waiting.select('address').execute()).toEqual([]);
    await fast.reconcile();
    expect(await stateOf(fast, charge)).toBe('finalized');
    expect(await spent(fast, rented)).toBe(PRICE);
  });
});

describe('charges in flight while the cluster moves to fast finality', () => {
  it('are each made once, and end as final', async () => {
    const rented = await renterOf(moving);
    const replica = moving.settlement();
    const earlier = [await reserve(moving, rented), await reserve(moving, rented)];
    for (const charge of earlier) expect(await replica.charge(charge, due).confirmed).toBe(PRICE);
    expect(await levelOf(moving, earlier[0] as ReservedCharge)).toBe('confirmed');
    // One is on its way during the move, one is written down and not sent.
    const [sent, unsent] = [await reserve(moving, rented), await reserve(moving, rented)];
    const landing = replica.charge(sent, due).confirmed;
    await moving.migrate();
    expect(await landing).toBe(PRICE);
    expect(await moving.states.sign([unsent.run_id], await moving.signer.sign([unsent]))).toEqual([]);
    await expect
      .poll(async () => {
        await moving.reconcile();
        return Promise.all([...earlier, sent, unsent].map((charge) => stateOf(moving, charge)));
      })
      .toEqual(['finalized', 'finalized', 'finalized', 'finalized']);
    expect(await spent(moving, rented)).toBe(4n * PRICE);
  });
});
