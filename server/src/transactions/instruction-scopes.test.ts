import {
  closeListing,
  consumeQuery,
  createListing,
  MARKETPLACE_PROGRAM_ID,
  purchaseOneTime,
  purchasePerQuery,
  purchaseSubscription,
  renewSubscription,
  revokePerQueryAccess,
  topupBalance,
  updateListing,
  withdrawEarnings,
} from '@agent-rental/program-client';
import {
  Keypair,
  SystemProgram,
  TransactionInstruction,
  TransactionMessage,
  type VersionedMessage,
} from '@solana/web3.js';
import { expect, test } from 'vitest';
import { createdListings, transactionScopes } from './instruction-scopes.js';

const wallet = Keypair.generate().publicKey;
const other = Keypair.generate().publicKey;
const listingId = 'invoice-reader-k3x7qa';
const rental = { buyer: wallet, listingId, maxPriceLamports: 1n };
const treasury = other;
const creator = wallet;

const messageOf = (...instructions: TransactionInstruction[]): VersionedMessage =>
  new TransactionMessage({
    payerKey: wallet,
    recentBlockhash: Keypair.generate().publicKey.toBase58(),
    instructions,
  }).compileToV0Message();
const scopesOf = (...instructions: TransactionInstruction[]) => [
  ...transactionScopes(messageOf(...instructions), wallet.toBase58(), MARKETPLACE_PROGRAM_ID),
];

const pause = updateListing({ creator, listingId, status: 'paused' });
const topup = topupBalance({ ...rental, amountLamports: 1n });
const creation = createListing({
  creator,
  authority: other,
  listingId,
  rentalModel: 'one_time',
  priceLamports: 1_000n,
  minDepositLamports: 0n,
  metadataUri: 'ipfs://x',
});

const consumption = { sequence: 1n, runId: Buffer.alloc(16), priceLamports: 1n };
const charge = consumeQuery({ authority: wallet, buyer: other, listingId, treasury, ...consumption });
const unreadable = new TransactionInstruction({
  programId: MARKETPLACE_PROGRAM_ID,
  keys: [],
  data: Buffer.alloc(8),
});

test.each([
  ['a purchase for good', purchaseOneTime({ ...rental, treasury }), 'rent'],
  ['a subscription', purchaseSubscription({ ...rental, treasury, durationSeconds: 2_592_000 }), 'rent'],
  ['a renewal', renewSubscription({ ...rental, treasury, durationSeconds: 2_592_000 }), 'rent'],
  ['a first deposit', purchasePerQuery({ ...rental, depositLamports: 1n }), 'rent'],
  ['a top-up', topup, 'rent'],
  ['taking a balance back', revokePerQueryAccess({ revoker: wallet, buyer: wallet, listingId }), 'rent'],
  ['revoking a buyer', revokePerQueryAccess({ revoker: wallet, buyer: other, listingId }), 'publish'],
  ['a new listing', creation, 'publish'],
  ['a pause', pause, 'publish'],
  ['closing', closeListing({ creator, listingId }), 'publish'],
  ['a withdrawal', withdrawEarnings({ creator, listingId }), 'publish'],
  ['a charge', charge, 'publish'],
  ['an unreadable instruction', unreadable, 'publish'],
])('%s needs its scope [ID-50]', (_, instruction, scope) => {
  expect(scopesOf(instruction)).toEqual([scope]);
});

test('a transaction needs the scopes of all its instructions, and other programs need none [ID-50]', () => {
  const transfer = SystemProgram.transfer({ fromPubkey: wallet, toPubkey: other, lamports: 1 });
  expect(scopesOf(topup, transfer, pause).toSorted()).toEqual(['publish', 'rent']);
  expect(createdListings(messageOf(creation, topup, creation), MARKETPLACE_PROGRAM_ID)).toBe(2);
});
