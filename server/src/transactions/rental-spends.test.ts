import {
  ACCOUNT_SIZES,
  consumeQuery,
  createListing,
  findListingAddress,
  MARKETPLACE_PROGRAM_ID,
  purchaseOneTime,
  purchasePerQuery,
  purchaseSubscription,
  renewSubscription,
  topupBalance,
  updateListing,
} from '@agent-rental/program-client';
import { Keypair, type TransactionInstruction } from '@solana/web3.js';
import { describe, expect, test } from 'vitest';
import type { Chain } from '../chain/index.js';
import type { Allowance } from '../spending/index.js';
import { ApiError } from '../errors/api-error.js';
import { rentalSpendsOf } from './rental-spends.js';
import { createTransactionService } from './service.js';
import { base64Of, chainWith, LANDED, signed } from './signed.test-support.js';

const wallet = Keypair.generate();
const buyer = wallet.publicKey;
const treasury = Keypair.generate().publicKey;
const listingId = 'invoice-reader-k3x7qa';
const otherId = 'contract-reader-k3x7qa';
const addressOf = (id: string) => findListingAddress(id).address.toBase58();

const messageOf = (...instructions: TransactionInstruction[]) => signed(instructions, wallet).message;
const maxPriceLamports = 7n;
const rental = { buyer, listingId, maxPriceLamports };
const window = { ...rental, treasury, durationSeconds: 2_592_000 };
const deposit = purchasePerQuery({ ...rental, depositLamports: 50n });
const topup = topupBalance({ ...rental, listingId: otherId, amountLamports: 30n });

describe('the most that a transaction takes out of the wallet', () => {
  test.each([
    ['a purchase for good', purchaseOneTime({ ...rental, treasury }), 7n],
    ['a subscription', purchaseSubscription(window), 7n],
    ['a renewal', renewSubscription(window), 7n],
    ['the first deposit', deposit, 50n],
    ['a top-up', topupBalance({ ...rental, amountLamports: 30n }), 30n],
  ])('by %s is its highest agreed amount [ID-32]', (_, instruction, lamports) => {
    expect(rentalSpendsOf(messageOf(instruction), MARKETPLACE_PROGRAM_ID)).toEqual([
      { listingAddress: addressOf(listingId), lamports, terms: expect.any(String) },
    ]);
  });

  test('is told for each rental in it', () => {
    expect(rentalSpendsOf(messageOf(deposit, topup), MARKETPLACE_PROGRAM_ID)).toEqual([
      { listingAddress: addressOf(listingId), lamports: 50n, terms: expect.any(String) },
      { listingAddress: addressOf(otherId), lamports: 30n, terms: expect.any(String) },
    ]);
  });

  test('is nothing where nothing is rented, or another program is called', () => {
    const programId = Keypair.generate().publicKey;
    const charge = { authority: buyer, buyer, listingId, treasury };
    const instructions = [
      updateListing({ creator: buyer, listingId, status: 'paused' }),
      consumeQuery({ ...charge, sequence: 1n, runId: Buffer.alloc(16), priceLamports: 1n }),
      purchaseOneTime({ ...rental, treasury, programId }),
    ];
    expect(rentalSpendsOf(messageOf(...instructions), MARKETPLACE_PROGRAM_ID)).toEqual([]);
  });
});

describe('a submitted transaction', () => {
  /** The service on a chain with chosen answers, and an allowance that keeps a list. */
  function serviceWith(chain: Partial<Chain> = {}) {
    const asked: string[] = [];
    const held = new Map<string, { kind: string; lamports: bigint }>();
    const allowance: Allowance = {
      requireRental: (id) => {
        asked.push(id);
        if (id === '') throw new ApiError('credential_not_found', 'Not a listing that is known.');
      },
      requireRoom: async () => undefined,
      asksFor: () => false,
      requireApproval: async () => undefined,
      reserve: async ({ id, kind, lamports }) => void held.set(id, { kind, lamports }),
      releaseReservation: async (id) => void held.delete(id),
    };
    const known = new Map([listingId, otherId].map((id) => [addressOf(id), id]));
    type Deps = Parameters<typeof createTransactionService>[0];
    const service = createTransactionService({
      chain: chainWith({ waitForConfirmation: async () => LANDED, ...chain }),
      listings: { findIdByAddress: async (address: string) => known.get(address) } as Deps['listings'],
      indexer: { indexTransaction: async () => undefined } as unknown as Deps['indexer'],
      credentials: { verify: async () => ({ status: 'not_found' }) } as unknown as Deps['credentials'],
      proposals: {} as Deps['proposals'],
      registration: {} as Deps['registration'],
    });
    const submit = (...instructions: TransactionInstruction[]) =>
      service.submit(buyer.toBase58(), base64Of(signed(instructions, wallet)), allowance);
    return { submit, asked, spends: () => [...held.values()] };
  }

  test('is asked about for each listing, and counted as a whole [ID-32]', async () => {
    const { submit, asked, spends } = serviceWith();
    await submit(deposit, topup);
    expect(asked).toEqual([listingId, otherId]);
    expect(spends()).toEqual([{ kind: 'rental', lamports: 80n }]);
  });

  test('that creates a listing counts the rent of its accounts [ID-50]', async () => {
    const { submit, spends } = serviceWith({ minimumBalance: async (bytes) => BigInt(bytes) });
    await submit(
      createListing({
        creator: buyer,
        authority: buyer,
        listingId,
        rentalModel: 'one_time',
        priceLamports: 1_000n,
        minDepositLamports: 0n,
        metadataUri: 'ipfs://x',
      }),
    );
    const lamports = BigInt(ACCOUNT_SIZES.Listing + ACCOUNT_SIZES.Escrow);
    expect(spends()).toEqual([{ kind: 'rental', lamports }]);
  });

  test('is refused for a listing that is not known, and not counted', async () => {
    const { submit, spends } = serviceWith();
    const unknown = topupBalance({ ...rental, listingId: 'absent-aaaaaa', amountLamports: 1n });
    await expect(submit(deposit, unknown)).rejects.toMatchObject({ code: 'credential_not_found' });
    expect(spends()).toEqual([]);
  });

  test('that the program refuses takes nothing from the day', async () => {
    const { submit, spends } = serviceWith({
      preflight: async () => ({ error: { InstructionError: [0, { Custom: 6003 }] }, logs: [] }),
    });
    await expect(submit(deposit)).rejects.toMatchObject({ onChainError: { anchor_code: 6003 } });
    expect(spends()).toEqual([]);
  });

  test('that may still land stays counted', async () => {
    const { submit, spends } = serviceWith({
      waitForConfirmation: async () => null,
      blockHeight: async () => 151n,
    });
    await expect(submit(deposit)).rejects.toMatchObject({ code: 'service_unavailable' });
    expect(spends()).toEqual([{ kind: 'rental', lamports: 50n }]);
  });
});
