import type { TransactionRequestOf } from '@agent-rental/contract';
import { createListing, purchaseSubscription, renewSubscription } from '@agent-rental/program-client';
import { afterAll, expect, it } from 'vitest';
import { createKeypairSigner, createPriorityFees, createProtocolReader } from '../chain/index.js';
import { newTestListingId, openTestDatabase, startTestMarket } from '../testing/index.js';
import { createProposalBuilder } from './proposals.js';

const DAY = 86_400;
const DAYS_30 = 2_592_000;
const PRICE = 1_000_000n;

const database = await openTestDatabase();
afterAll(() => database.close());
const market = await startTestMarket(database);
afterAll(() => market.close());
const { chain, treasury, authorityKeypair } = market;
const proposals = createProposalBuilder({
  chain,
  authority: createKeypairSigner(authorityKeypair),
  protocol: createProtocolReader(chain),
  fees: createPriorityFees(chain, 0n),
  network: 'localnet',
});

it('renewals are refused while they add less than half of their window by the chain’s clock, but for an explicit yes [TXN-24]', async () => {
  const [creator, renter] = [await market.newWallet(), await market.newWallet()];
  const listingId = newTestListingId();
  const listing = createListing({
    creator: creator.publicKey,
    authority: authorityKeypair.publicKey,
    listingId,
    rentalModel: 'subscription',
    priceLamports: PRICE,
    minDepositLamports: 0n,
    metadataUri: 'ipfs://test',
  });
  await market.send([listing], creator, authorityKeypair);
  const window = {
    buyer: renter.publicKey,
    listingId,
    treasury,
    durationSeconds: DAYS_30,
    maxPriceLamports: PRICE,
  };
  await market.send([purchaseSubscription(window)], renter);
  const renewal = async (more: Partial<TransactionRequestOf<'renew'>> = {}) => {
    const request = { action: 'renew', listing_id: listingId, duration_seconds: DAYS_30, ...more } as const;
    return (await proposals.act(renter.publicKey.toBase58(), request)).quote;
  };

  await market.passTime(DAY);
  await expect(renewal()).rejects.toMatchObject({
    code: 'invalid_request',
    message: expect.stringMatching(/would add 1 of 30 days.*or send `early: true` to pay anyway/) as string,
  });
  const early = await renewal({ early: true });
  expect(early).toMatchObject({ price_lamports: Number(PRICE), rent_lamports: 0 });
  expect(Math.floor((early.added_seconds ?? 0) / DAY)).toBe(1);

  await market.passTime(15 * DAY);
  const quote = await renewal();
  expect(Math.floor((quote.added_seconds ?? 0) / DAY)).toBe(16);
  await market.send([renewSubscription(window)], renter);
  const { new_expires_at: end = '' } = await renewal({ duration_seconds: 7_776_000 });
  // Of a window of 90 days from now, 60 are new.
  expect(Math.abs(Date.parse(end) - Date.parse(quote.new_expires_at ?? '') - 60 * DAY * 1000)).toBeLessThan(
    30_000,
  );
  await expect(renewal()).rejects.toThrow(/would add (nothing|less than 1 of 30 days)/);
});
