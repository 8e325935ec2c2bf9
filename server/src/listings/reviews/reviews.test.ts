import { Keypair, SystemProgram } from '@solana/web3.js';
import { afterAll, describe, expect, it } from 'vitest';
import { createChain, createWalletHistory } from '../../chain/index.js';
import { createCredentialRepository } from '../../credentials/index.js';
import {
  insertListing,
  insertRun,
  newWallet,
  openTestDatabase,
  startTestMarket,
} from '../../testing/index.js';
import { createCreators } from '../creators.js';
import { createListingRepository } from '../repository.js';
import { createReviews } from './reviews.js';
import { createListingService } from '../service.js';

const database = await openTestDatabase();
afterAll(() => database.close());
const listings = createListingService(createListingRepository(database));
const market = await startTestMarket(database);
afterAll(() => market.close());
const reviews = createReviews(database.db, listings, createWalletHistory(market.chain));
const rentals = createCredentialRepository(database.db);
const creators = createCreators(database.db);

/** A listing, a wallet with a run of it that ended so, and a way to let another one have such a run. */
async function reviewable(
  status: 'running' | 'completed' | 'failed' | 'undelivered' = 'completed',
  creatorOf = newWallet(),
) {
  const listing = await insertListing(database.db, { creator: creatorOf });
  const ran = async (by: string) => {
    const run = await insertRun(database.db, listing, by);
    await database.db.updateTable('runs').set({ status }).where('id', '=', run).execute();
  };
  const wallet = newWallet();
  await ran(wallet);
  return { id: listing.id, creator: listing.creator, wallet, ran };
}

/** Indexes that a wallet rents an agent of that creator. */
async function rentFrom(creator: string, buyer: string): Promise<void> {
  const { address: listing_address } = await insertListing(database.db, { creator });
  const terms = {
    rental_model: 'one_time',
    valid: true,
    purchased_at: new Date(),
    expires_at: null,
  } as const;
  await rentals.apply(
    [{ kind: 'credential', row: { address: newWallet(), buyer, listing_address, ...terms } }],
    1n,
    true,
  );
}

const rankedOf = (id: string) =>
  database.db
    .selectFrom('listings')
    .select(['ranked_rating_sum as sum', 'ranked_review_count as count'])
    .where('id', '=', id)
    .executeTakeFirstOrThrow();

describe('a review', () => {
  it('shows in the listing and among its reviews', async () => {
    const { id, wallet } = await reviewable();
    const written = await reviews.put(id, wallet, {
      rating: 4,
      comment: ' Found\u202e two\0 of three.\r\n ',
    });
    expect(written).toMatchObject({ reviewer: wallet, rating: 4, comment: 'Found two of three.' });
    expect(await listings.detail(id)).toMatchObject({ rating: 4, review_count: 1 });
    const page = await reviews.list(id, { limit: 20, offset: 0 });
    const counts = { 1: 0, 2: 0, 3: 0, 4: 1, 5: 0 };
    expect(page).toEqual({ reviews: [written], total: 1, rating_counts: counts, limit: 20, offset: 0 });
  });

  it('replaces the one that the wallet wrote before', async () => {
    const { id, wallet } = await reviewable('failed');
    const first = await reviews.put(id, wallet, { rating: 1, comment: 'It failed.' });
    const second = await reviews.put(id, wallet, { rating: 5 });
    expect(second).toMatchObject({ rating: 5, comment: null, created_at: first.created_at });
    expect(await listings.detail(id)).toMatchObject({ rating: 5, review_count: 1 });
    const page = await reviews.list(id, { limit: 20, offset: 0 });
    expect(page.reviews).toEqual([second]);
    expect(page.rating_counts).toEqual({ 1: 0, 2: 0, 3: 0, 4: 0, 5: 1 });
  });

  it('needs more than a free first run [EXE-100]', async () => {
    const { id, wallet } = await reviewable();
    await database.db.updateTable('runs').set({ is_trial: true }).where('wallet', '=', wallet).execute();
    await expect(reviews.put(id, wallet, { rating: 1 })).rejects.toMatchObject({
      code: 'invalid_request',
      message: expect.stringContaining('free first run') as string,
    });
  });

  it.each(['running', 'undelivered'] as const)('needs more than a run that is %s', async (status) => {
    const { id, wallet } = await reviewable(status);
    await expect(reviews.put(id, wallet, { rating: 5 })).rejects.toMatchObject({
      code: 'invalid_request',
      message: expect.stringContaining('finished run') as string,
    });
    expect(await listings.detail(id)).toMatchObject({ rating: 0, review_count: 0 });
  });

  it('needs a run of this listing by this wallet', async () => {
    const [one, other] = [await reviewable(), await reviewable()];
    await expect(reviews.put(one.id, other.wallet, { rating: 5 })).rejects.toMatchObject({
      code: 'invalid_request',
    });
  });

  it("is never the creator's", async () => {
    const { id, creator, ran } = await reviewable();
    await ran(creator);
    await expect(reviews.put(id, creator, { rating: 5 })).rejects.toMatchObject({
      code: 'invalid_request',
      message: expect.stringContaining('creator') as string,
    });
  });

  it('is never by a wallet whose first SOL came from the creator [LST-40]', async () => {
    const [creator, bought] = [await market.newWallet(), Keypair.generate()];
    const funding = { fromPubkey: creator.publicKey, toPubkey: bought.publicKey, lamports: 50_000_000 };
    await market.send([SystemProgram.transfer(funding)], creator);
    const { id, ran, wallet } = await reviewable('completed', creator.publicKey.toBase58());
    await ran(bought.publicKey.toBase58());
    await expect(reviews.put(id, bought.publicKey.toBase58(), { rating: 5 })).rejects.toMatchObject({
      code: 'invalid_request',
      message: expect.stringContaining('first SOL') as string,
    });
    await reviews.put(id, wallet, { rating: 2 });
    expect(await listings.detail(id)).toMatchObject({ rating: 2, review_count: 1 });
  });

  it('is not taken while the chain cannot be asked', async () => {
    const { id, wallet } = await reviewable();
    const noChain = createWalletHistory(createChain('http://127.0.0.1:1', market.chain.programId));
    const put = createReviews(database.db, listings, noChain).put(id, wallet, { rating: 5 });
    await expect(put).rejects.toMatchObject({ code: 'service_unavailable' });
    expect(await listings.detail(id)).toMatchObject({ review_count: 0 });
  });

  it('says how many paid runs its wallet had, without a free one', async () => {
    const { id, wallet, ran } = await reviewable('failed');
    await ran(wallet);
    await database.db.updateTable('runs').set({ is_trial: true }).where('wallet', '=', wallet).execute();
    await ran(wallet);
    await ran(wallet);
    await insertRun(database.db, { id, version_id: (await listings.find(id)).version.id }, wallet);
    expect(await reviews.put(id, wallet, { rating: 3 })).toMatchObject({ paid_runs: 2 });
    expect((await reviews.list(id, { limit: 20, offset: 0 })).reviews).toMatchObject([{ paid_runs: 2 }]);
  });

  it('counts for the order once its wallet has rented from another creator [LST-25]', async () => {
    const { id, creator, wallet, ran } = await reviewable();
    await rentFrom(creator, wallet);
    await rentFrom(wallet, wallet);
    await reviews.put(id, wallet, { rating: 5 });
    expect(await rankedOf(id)).toEqual({ sum: 0, count: 0 });
    expect(await listings.detail(id)).toMatchObject({ rating: 5, review_count: 1 });
    await rentFrom(newWallet(), wallet);
    expect(await rankedOf(id)).toEqual({ sum: 5, count: 1 });
    await rentFrom(newWallet(), wallet);
    await reviews.put(id, wallet, { rating: 2 });
    expect(await rankedOf(id)).toEqual({ sum: 2, count: 1 });
    const known = newWallet();
    await rentFrom(newWallet(), known);
    await ran(known);
    await reviews.put(id, known, { rating: 4 });
    expect(await rankedOf(id)).toEqual({ sum: 6, count: 2 });
  });

  it('counts once for the order, however close it is to the rentals of its wallet', async () => {
    const made = await Promise.all(Array.from({ length: 3 }, () => reviewable()));
    const wallets = Array.from({ length: 5 }, newWallet);
    for (const { ran } of made) for (const wallet of wallets) await ran(wallet);
    const other = newWallet();
    await Promise.all(
      wallets.flatMap((wallet) => [
        ...made.flatMap(({ id }) => [
          reviews.put(id, wallet, { rating: 1 }),
          reviews.put(id, wallet, { rating: 4 }),
        ]),
        rentFrom(other, wallet),
        rentFrom(other, wallet),
      ]),
    );
    for (const { id } of made) {
      const { sum, count } = await rankedOf(id);
      const { rating, review_count } = await listings.detail(id);
      expect({ count, average: sum / count }).toEqual({ count: 5, average: rating });
      expect(review_count).toBe(5);
    }
  });

  it('of a listing that is not there is refused', async () => {
    await expect(reviews.put('absent-aaaaaa', newWallet(), { rating: 5 })).rejects.toMatchObject({
      code: 'listing_not_found',
    });
    await expect(reviews.list('Absent', { limit: 20, offset: 0 })).rejects.toMatchObject({
      code: 'invalid_listing_id',
    });
  });

  it('is on one page, the newest first', async () => {
    const { id, wallet, ran } = await reviewable();
    const wallets = [wallet, ...Array.from({ length: 6 }, newWallet)];
    for (const reviewer of wallets) {
      await ran(reviewer);
      await reviews.put(id, reviewer, { rating: 3 });
    }
    const seen: string[] = [];
    for (let offset = 0; offset < 9; offset += 3) {
      const page = await reviews.list(id, { limit: 3, offset });
      expect(page).toMatchObject({ total: 7, limit: 3, offset });
      seen.push(...page.reviews.map(({ reviewer }) => reviewer));
    }
    expect(seen).toEqual(wallets.toReversed());
  });
});

describe('the answer to a review', () => {
  const answerOf = async (id: string) =>
    (await reviews.list(id, { limit: 20, offset: 0 })).reviews.map(({ answer }) => answer?.text);

  it('is written, replaced and removed by the creator of the listing [LST-45]', async () => {
    const { id, wallet, creator } = await reviewable();
    await reviews.put(id, wallet, { rating: 2, comment: 'Slow.' });
    const answered = await reviews.answer(creator, id, wallet, ' Faster\u202e now.\0\r\n ');
    expect(answered).toMatchObject({ rating: 2, comment: 'Slow.', answer: { text: 'Faster now.' } });
    await reviews.answer(creator, id, wallet, 'Twice as fast now.');
    expect(await answerOf(id)).toEqual(['Twice as fast now.']);
    expect(await reviews.answer(creator, id, wallet, null)).not.toHaveProperty('answer');
    await reviews.answer(creator, id, wallet, null);
    expect(await answerOf(id)).toEqual([undefined]);
  });

  it('is refused to all others, and of a wallet without a review [LST-45]', async () => {
    const { id, wallet, creator } = await reviewable();
    await reviews.put(id, wallet, { rating: 2 });
    await reviews.answer(creator, id, wallet, 'Thank you.');
    for (const other of [wallet, (await reviewable()).creator, newWallet()]) {
      const refused = { code: 'listing_not_found' };
      await expect(reviews.answer(other, id, wallet, 'Mine.')).rejects.toMatchObject(refused);
      await expect(reviews.answer(other, id, wallet, null)).rejects.toMatchObject(refused);
    }
    expect(await answerOf(id)).toEqual(['Thank you.']);
    await expect(reviews.answer(creator, id, newWallet(), 'To whom?')).rejects.toMatchObject({
      code: 'not_found',
    });
  });

  it.each([' ', '\u200b\n', '\0'])('of nothing to read is refused: %j', async (text) => {
    const { id, wallet, creator } = await reviewable();
    await reviews.put(id, wallet, { rating: 2 });
    await expect(reviews.answer(creator, id, wallet, text)).rejects.toMatchObject({
      code: 'invalid_request',
    });
    expect(await answerOf(id)).toEqual([undefined]);
  });

  it('ends with its review: a review in its place has none [LST-45]', async () => {
    const { id, wallet, creator } = await reviewable();
    await reviews.put(id, wallet, { rating: 2, comment: 'Slow.' });
    await reviews.answer(creator, id, wallet, 'Faster now.');
    expect(await reviews.put(id, wallet, { rating: 5, comment: 'Slow.' })).not.toHaveProperty('answer');
    expect(await answerOf(id)).toEqual([undefined]);
  });
});

describe("a creator's name", () => {
  it('is cleaned, shown with its listings, and can be taken back', async () => {
    const { id, creator } = await reviewable();
    const named = await creators.update(creator, { display_name: '  Ledger\u202e\n Works\u200b ' });
    expect(named).toEqual({ id: creator, display_name: 'Ledger Works', listing_count: 1 });
    expect((await listings.detail(id)).creator).toEqual(named);
    const unnamed = await creators.update(creator, { display_name: null });
    expect(unnamed.display_name).toBe(`${creator.slice(0, 4)}...${creator.slice(-4)}`);
    expect((await listings.detail(id)).creator).toEqual(unnamed);
  });

  it('can be set before there is a listing', async () => {
    const wallet = newWallet();
    expect(await creators.update(wallet, { display_name: 'Ünder' })).toEqual({
      id: wallet,
      display_name: 'Ünder',
      listing_count: 0,
    });
  });

  it.each(['   ', '\u200b', '…', '—'])('of nothing to read is refused: %j', async (display_name) => {
    await expect(creators.update(newWallet(), { display_name })).rejects.toMatchObject({
      code: 'invalid_request',
    });
  });
});
