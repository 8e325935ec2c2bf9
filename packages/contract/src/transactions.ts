import { z } from 'zod';
import { lamports, listingId, walletAddress } from './primitives.js';
import { credentialVerification } from './credential.js';
import { listingTerms } from './registration.js';

/** Windows that a subscription can be bought for, in seconds: 30, 90 and 365 days. */
export const SUBSCRIPTION_DURATIONS_SECONDS = [2_592_000, 7_776_000, 31_536_000] as const;

/** Body of `POST /v1/transactions`: what the authenticated wallet wants to sign. */
export const transactionRequest = z
  .discriminatedUnion('action', [
    z.strictObject({
      action: z.literal('publish'),
      listing_id: listingId,
      /** Terms of a listing that was registered without them. */
      listing: listingTerms.optional(),
    }),
    z.strictObject({
      action: z.literal('rent'),
      listing_id: listingId,
      /** The most the renter agrees to pay: in all, or for `per_query` per task. Default: the present price. */
      max_price_lamports: lamports.optional(),
      /** Required for a subscription. */
      duration_seconds: z.literal([...SUBSCRIPTION_DURATIONS_SECONDS]).optional(),
      /** Per-Task: the first deposit; default the listing's minimum. */
      deposit_lamports: lamports.optional(),
    }),
  ])
  .meta({ id: 'TransactionRequest' });
export type TransactionRequest = z.infer<typeof transactionRequest>;

/** A transaction to sign, with what it will cost. */
export const transactionProposal = z
  .object({
    /** Wire transaction, base64; the authority's signature is already on it where one is needed. */
    transaction: z.string(),
    message: z.string(),
    chain: z.enum(['solana:localnet', 'solana:devnet', 'solana:mainnet']),
    payer: walletAddress,
    blockhash: z.string(),
    last_valid_block_height: z.int(),
    quote: z.object({ price_lamports: lamports, rent_lamports: lamports, network_fee_lamports: lamports }),
  })
  .meta({ id: 'TransactionProposal' });
export type TransactionProposal = z.infer<typeof transactionProposal>;

/** Body of `POST /v1/transactions/submit`. */
export const submitTransactionBody = z
  .strictObject({ transaction: z.string().max(2000) })
  .meta({ id: 'SubmitTransaction' });

/** Answer of `POST /v1/transactions/submit`: confirmed, and seen by the index. */
export const submittedTransaction = z
  .object({
    signature: z.string(),
    listing_id: listingId.optional(),
    /** The caller's credential for that listing, after a rental. */
    credential: credentialVerification.optional(),
  })
  .meta({ id: 'SubmittedTransaction' });
