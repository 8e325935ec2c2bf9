import { TRIAL_WALLET_LAMPORTS } from '@agent-rental/contract';
import { Keypair, SystemProgram, type PublicKey } from '@solana/web3.js';
import { afterAll, describe, expect, it } from 'vitest';
import { createChain, createWalletHistory } from '../../chain/index.js';
import {
  insertListing,
  newWallet,
  openTestDatabase,
  publishedListing,
  startTestMarket,
} from '../../testing/index.js';
import { createTrials } from './trials.js';

const SUM = Number(TRIAL_WALLET_LAMPORTS);

const database = await openTestDatabase();
afterAll(() => database.close());
// Time passes where a test says so.
const market = await startTestMarket(database);
afterAll(() => market.close());
const { db } = database;
const trialsOn = (chain: typeof market.chain) =>
  createTrials({ db, history: createWalletHistory(chain), holdSeconds: 3_600 });
const trials = trialsOn(market.chain);

const pay = (from: Keypair, to: PublicKey, lamports = SUM) =>
  market.send([SystemProgram.transfer({ fromPubkey: from.publicKey, toPubkey: to, lamports })], from);

/** The answer to a wallet that wants the free run of a listing. */
const askedBy = (wallet: Keypair, freeTrial: 'anyone' | 'renters' = 'anyone', creator = newWallet()) =>
  trials
    .requireOpen({ wallet: addressOf(wallet), listing: publishedListing({}, { freeTrial, creator }) })
    .then(
      () => 'open',
      (error: Error) => error.message,
    );
const addressOf = (wallet: Keypair) => wallet.publicKey.toBase58();

async function rentFrom(creator: string, wallet: Keypair): Promise<void> {
  const { address: listing_address } = await insertListing(db, { creator });
  const terms = {
    rental_model: 'one_time',
    valid: true,
    purchased_at: new Date(),
    expires_at: null,
  } as const;
  const row = { address: newWallet(), buyer: addressOf(wallet), listing_address, slot: 1n, ...terms };
  await db.insertInto('credentials').values(row).execute();
}

describe('a wallet that has rented nothing', () => {
  it('has a free run after it has held its SOL for an hour, and the same SOL opens no other wallet [EXE-102]', async () => {
    const rich = await market.newWallet();
    const [first, second] = [Keypair.generate(), Keypair.generate()];
    await pay(rich, first.publicKey, SUM + 5_000);
    expect(await askedBy(first)).toContain('has held 0.05 SOL for 60 minutes');
    await market.expire();
    expect(await askedBy(first)).toBe('open');
    await pay(first, second.publicKey);
    expect(await askedBy(first)).toContain('60 minutes');
    expect(await askedBy(second)).toContain('60 minutes');
    await market.expire();
    expect(await askedBy(second)).toBe('open');
  });

  it('has none with more than 20 transactions in the hour, and is told so', async () => {
    const rich = await market.newWallet();
    const busy = Keypair.generate();
    await pay(rich, busy.publicKey);
    await market.expire();
    for (let sent = 0; sent < 21; sent += 1) await pay(rich, busy.publicKey, 1_000 + sent);
    expect(await askedBy(busy)).toContain('at most 20 transactions in 60 minutes');
    await rentFrom(newWallet(), busy);
    expect(await askedBy(busy)).toBe('open');
  });

  it('has none while the chain cannot be asked', async () => {
    const asked = trialsOn(createChain('http://127.0.0.1:1', market.chain.programId)).requireOpen({
      wallet: newWallet(),
      listing: publishedListing({}, { freeTrial: 'anyone' }),
    });
    await expect(asked).rejects.toMatchObject({ code: 'service_unavailable' });
  });
});

it('a free run for renters needs a rental from another creator, whatever the wallet holds [EXE-102]', async () => {
  const [wallet, creator] = [await market.newWallet(), newWallet()];
  await market.expire();
  const asked = () => askedBy(wallet, 'renters', creator);
  expect(await asked()).toContain('rented an agent of another creator');
  await rentFrom(creator, wallet);
  await rentFrom(addressOf(wallet), wallet);
  expect(await asked()).toContain('rented an agent of another creator');
  await rentFrom(newWallet(), wallet);
  expect(await asked()).toBe('open');
});
