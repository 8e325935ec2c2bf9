import type { TransactionProposal, TransactionRequest } from '@agent-rental/contract';
import {
  ACCOUNT_SIZES,
  closeListing,
  createListing,
  decodeInstruction,
  purchaseOneTime,
  purchasePerQuery,
  purchaseSubscription,
  renewSubscription,
  revokePerQueryAccess,
  topupBalance,
  updateListing,
  withdrawEarnings,
  type AccountName,
} from '@agent-rental/program-client';
import {
  Keypair,
  TransactionMessage,
  VersionedTransaction,
  type PublicKey,
  type TransactionInstruction,
} from '@solana/web3.js';

/** The parties of the tests. */
export const wallet = Keypair.generate();
export const authority = Keypair.generate();
export const treasury = Keypair.generate().publicKey;
export const listingId = 'invoice-reader-k3x7qa';
export const BLOCKHASH = Keypair.generate().publicKey.toBase58();

const buyer = wallet.publicKey;
const creator = wallet.publicKey;

/** Proposals of an honest server, made without the code under test. */
export const HONEST: Record<string, { request: TransactionRequest; instructions: TransactionInstruction[] }> =
  {
    'rent one_time': {
      request: { action: 'rent', listing_id: listingId, max_price_lamports: 5_000_000 },
      instructions: [purchaseOneTime({ buyer, listingId, treasury, maxPriceLamports: 5_000_000n })],
    },
    'rent subscription': {
      request: {
        action: 'rent',
        listing_id: listingId,
        duration_seconds: 2_592_000,
        max_price_lamports: 5_000_000,
      },
      instructions: [
        purchaseSubscription({
          buyer,
          listingId,
          treasury,
          durationSeconds: 2_592_000,
          maxPriceLamports: 5_000_000n,
        }),
      ],
    },
    'rent per_query': {
      request: { action: 'rent', listing_id: listingId, deposit_lamports: 9_000_000 },
      instructions: [
        purchasePerQuery({ buyer, listingId, depositLamports: 9_000_000n, maxPriceLamports: 1_000_000n }),
      ],
    },
    renew: {
      request: {
        action: 'renew',
        listing_id: listingId,
        duration_seconds: 7_776_000,
        max_price_lamports: 5_000_000,
      },
      instructions: [
        renewSubscription({
          buyer,
          listingId,
          treasury,
          durationSeconds: 7_776_000,
          maxPriceLamports: 5_000_000n,
        }),
      ],
    },
    topup: {
      request: { action: 'topup', listing_id: listingId, amount_lamports: 5_000_000 },
      instructions: [
        topupBalance({ buyer, listingId, amountLamports: 5_000_000n, maxPriceLamports: 1_000_000n }),
      ],
    },
    reclaim: {
      request: { action: 'reclaim', listing_id: listingId },
      instructions: [revokePerQueryAccess({ revoker: buyer, buyer, listingId })],
    },
    publish: {
      request: { action: 'publish', listing_id: listingId },
      instructions: [
        createListing({
          creator,
          authority: authority.publicKey,
          listingId,
          rentalModel: 'one_time',
          priceLamports: 5_000_000n,
          minDepositLamports: 0n,
          metadataUri: 'ipfs://x',
        }),
      ],
    },
    update: {
      request: {
        action: 'update',
        listing_id: listingId,
        price_lamports: 7_000_000,
        metadata_uri: 'ipfs://y',
      },
      instructions: [
        updateListing({ creator, listingId, priceLamports: 7_000_000n, metadataUri: 'ipfs://y' }),
      ],
    },
    pause: {
      request: { action: 'pause', listing_id: listingId },
      instructions: [updateListing({ creator, listingId, status: 'paused' })],
    },
    resume: {
      request: { action: 'resume', listing_id: listingId },
      instructions: [updateListing({ creator, listingId, status: 'active' })],
    },
    close: {
      request: { action: 'close', listing_id: listingId },
      instructions: [withdrawEarnings({ creator, listingId }), closeListing({ creator, listingId })],
    },
    'close without earnings': {
      request: { action: 'close', listing_id: listingId },
      instructions: [closeListing({ creator, listingId })],
    },
    withdraw: {
      request: { action: 'withdraw', listing_id: listingId, amount_lamports: 3_000 },
      instructions: [withdrawEarnings({ creator, listingId, amountLamports: 3_000n })],
    },
    revoke: {
      request: { action: 'revoke', listing_id: listingId, buyer: treasury.toBase58() },
      instructions: [revokePerQueryAccess({ revoker: creator, buyer: treasury, listingId })],
    },
  };

/** An honest proposal by its name. */
export function honest(name: string): {
  request: TransactionRequest;
  instructions: TransactionInstruction[];
} {
  const found = HONEST[name];
  if (!found) throw new Error(`There is no honest ${name}.`);
  return found;
}

/** Compiles instructions like a server, with a true quote and the needed signature of the authority. */
export function proposalOf(
  instructions: TransactionInstruction[],
  payer: PublicKey = wallet.publicKey,
  quote: Partial<TransactionProposal['quote']> = {},
): Pick<TransactionProposal, 'transaction' | 'quote'> {
  const message = new TransactionMessage({ payerKey: payer, recentBlockhash: BLOCKHASH, instructions });
  const transaction = new VersionedTransaction(message.compileToV0Message());
  const signs = instructions.some(({ keys }) =>
    keys.some((key) => key.isSigner && key.pubkey.equals(authority.publicKey)),
  );
  if (signs) transaction.sign([authority]);
  return {
    transaction: toBase64(transaction.serialize()),
    quote: { ...quoteOf(instructions), network_fee_lamports: signs ? 10_000 : 5_000, ...quote },
  };
}

/** An account's rent on the networks: for its bytes and 128 more. */
export const rentOf = (name: AccountName): number => (ACCOUNT_SIZES[name] + 128) * 6_960;

/** An honest server's quote of its instructions, without priority fees. */
function quoteOf(instructions: TransactionInstruction[]): TransactionProposal['quote'] {
  const quote = { price_lamports: 0, rent_lamports: 0, network_fee_lamports: 5_000 };
  for (const { data, keys } of instructions) {
    const decoded = decodeInstruction(data, keys);
    const max = Number(decoded?.args['maxPriceLamports']);
    const agreed = { price_lamports: max, max_price_lamports: max };
    switch (decoded?.name) {
      case 'purchase_one_time':
      case 'purchase_subscription':
        return { ...quote, ...agreed, rent_lamports: rentOf('AccessCredential') };
      case 'renew_subscription':
        return { ...quote, ...agreed };
      case 'purchase_per_query':
        return {
          ...quote,
          price_lamports: Number(decoded.args['depositLamports']),
          max_price_lamports: max,
          rent_lamports: rentOf('AccessCredential') + rentOf('PerQueryBalance'),
        };
      case 'topup_balance':
        return { ...quote, price_lamports: Number(decoded.args['amountLamports']), max_price_lamports: max };
      case 'create_listing':
        return { ...quote, rent_lamports: rentOf('Listing') + rentOf('Escrow') };
      default:
        break;
    }
  }
  return quote;
}

/** A quote for proposals that are refused before the check of their quote. */
export const QUOTE: TransactionProposal['quote'] = {
  price_lamports: 5_000_000,
  max_price_lamports: 5_000_000,
  rent_lamports: 0,
  network_fee_lamports: 5_000,
};

export function toBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64');
}
