import * as z from 'zod';
import { lamports, listingId, timestamp, walletAddress } from '../primitives.js';
import { credentialVerification } from './credential.js';
import type { ApiKeyScope } from '../identity/identity.js';
import { listingChanges, PRICE_LAMPORTS } from '../listings/registration.js';

/** Windows that a subscription can be bought for, in seconds: 30, 90 and 365 days. */
export const SUBSCRIPTION_DURATIONS_SECONDS = [2_592_000, 7_776_000, 31_536_000] as const;

/** Longest metadata URI that the on-chain program stores, in UTF-8 bytes. */
export const METADATA_URI_MAX_BYTES = 200;

const metadataUri = z
  .string()
  .min(1)
  .refine(
    (uri) => new TextEncoder().encode(uri).length <= METADATA_URI_MAX_BYTES,
    `has more than ${METADATA_URI_MAX_BYTES} bytes`,
  );

const duration = z.literal([...SUBSCRIPTION_DURATIONS_SECONDS]);

/** An action on a listing without further values. */
const listingAction = <const A extends string>(action: A, id: string) =>
  z.strictObject({ action: z.literal(action), listing_id: listingId }).meta({ id });

/** Body of `POST /v1/transactions`: the action that the authenticated wallet wants to sign. */
export const transactionRequest = z
  .discriminatedUnion('action', [
    z
      .strictObject({
        action: z.literal('publish'),
        listing_id: listingId,
        /** New or changed terms of the listing, which the server stores before publication. */
        listing: listingChanges.optional(),
        /** Publishes an agent that the service could not reach. Renters see this until a run or a probe reaches the agent. */
        unverified: z.boolean().optional(),
      })
      .meta({ id: 'PublishListing' }),
    z
      .strictObject({
        action: z.literal('rent'),
        listing_id: listingId,
        /** The most that the renter agrees to pay: in total, or for `per_query` per task. Default: the present price. */
        max_price_lamports: lamports.optional(),
        /** Required for a subscription. */
        duration_seconds: duration.optional(),
        /** Per-Task: the first deposit; default the listing's minimum. */
        deposit_lamports: lamports.optional(),
      })
      .meta({ id: 'RentListing' }),
    z
      .strictObject({
        action: z.literal('renew'),
        listing_id: listingId,
        /** The new end of the subscription is now + this, by the on-chain clock. */
        duration_seconds: duration,
        /** The most the renter agrees to pay for the window. Default: the present price. */
        max_price_lamports: lamports.optional(),
        /** Pays also for less than half of the window. Only a wallet's own login sends it, no API key or connected app. */
        early: z.boolean().optional(),
      })
      .meta({ id: 'RenewSubscription' }),
    z
      .strictObject({
        action: z.literal('topup'),
        listing_id: listingId,
        /** Addition to the prepaid balance; 0 only accepts the present price. */
        amount_lamports: lamports,
        /** The most the renter agrees to pay per task from now on. Default: the present price. */
        max_price_lamports: lamports.optional(),
      })
      .meta({ id: 'TopUpBalance' }),
    /**
     * Takes a prepaid balance back. It needs a closed listing, a price above the agreed maximum, or pauses of 7 days in total
     * within 30 days.
     */
    listingAction('reclaim', 'ReclaimBalance'),
    /** Ends a buyer's Per-Task rental for ever. The creator sends balance and rent back to the buyer. */
    z
      .strictObject({ action: z.literal('revoke'), listing_id: listingId, buyer: walletAddress })
      .meta({ id: 'RevokeRental' }),
    z
      .strictObject({
        action: z.literal('update'),
        listing_id: listingId,
        price_lamports: lamports.min(PRICE_LAMPORTS.min).max(PRICE_LAMPORTS.max).optional(),
        /** Per-Task: the least first deposit, at least the price. */
        min_deposit_lamports: lamports.max(PRICE_LAMPORTS.max).optional(),
        metadata_uri: metadataUri.optional(),
      })
      .meta({ id: 'UpdateListing' }),
    listingAction('pause', 'PauseListing'),
    listingAction('resume', 'ResumeListing'),
    /** Withdraws the earnings and closes the listing, in one transaction. */
    listingAction('close', 'CloseListing'),
    z
      .strictObject({
        action: z.literal('withdraw'),
        listing_id: listingId,
        /** Default: all of the earnings. */
        amount_lamports: lamports.min(1).optional(),
      })
      .meta({ id: 'WithdrawEarnings' }),
    /** Of the program's admin alone: suspends a listing, or makes that a pause, which its creator ends. */
    z
      .strictObject({ action: z.literal('moderate'), listing_id: listingId, suspended: z.boolean() })
      .meta({ id: 'ModerateListing' }),
  ])
  .meta({ id: 'TransactionRequest' });
export type TransactionRequest = z.infer<typeof transactionRequest>;

/** The scope that an API key needs for each action. */
export const TRANSACTION_SCOPES = {
  rent: 'rent',
  renew: 'rent',
  topup: 'rent',
  reclaim: 'rent',
  publish: 'publish',
  update: 'publish',
  pause: 'publish',
  resume: 'publish',
  close: 'publish',
  withdraw: 'publish',
  revoke: 'publish',
  moderate: 'publish',
} as const satisfies Record<TransactionRequest['action'], ApiKeyScope>;

/** One action's request, for instance `TransactionRequestOf<'rent'>`. */
export type TransactionRequestOf<A extends TransactionRequest['action']> = Extract<
  TransactionRequest,
  { action: A }
>;

/** The costs and returns of a transaction for the paying wallet. */
export const transactionQuote = z
  .object({
    /** The price or deposit that the wallet pays. */
    price_lamports: lamports,
    /**
     * The most that the transaction agrees to pay: in total, or for `per_query` per task. Absent where it buys nothing.
     */
    max_price_lamports: lamports.optional(),
    /** The rent of newly created accounts, which they hold as long as they exist. */
    rent_lamports: lamports,
    network_fee_lamports: lamports,
    /** The amount that returns to the wallet: earnings, or an unused balance and the rent of a closed account. */
    returned_lamports: lamports.optional(),
    /** Of a publication: the creator's part of each payment of the listing's price, after the protocol's fee. */
    earnings_lamports: lamports.optional(),
    /** The end of a renewed subscription, if it were renewed now. */
    new_expires_at: timestamp.optional(),
    /** The time that a renewal adds: its new end minus the later of the present end and now. */
    added_seconds: z.int().min(1).optional(),
  })
  .meta({ id: 'TransactionQuote' });
export type TransactionQuote = z.infer<typeof transactionQuote>;

/** A transaction to sign, with its quote. */
export const transactionProposal = z
  .object({
    /** Wire transaction, base64; the authority's signature is already on it where one is needed. */
    transaction: z.string(),
    message: z.string(),
    chain: z.enum(['solana:localnet', 'solana:devnet', 'solana:mainnet']),
    payer: walletAddress,
    blockhash: z.string(),
    last_valid_block_height: z.int(),
    /** Sign and submit it within this time; afterwards ask for a new one. Its blockhash ends 10 s later. */
    sign_within_seconds: z.int(),
    quote: transactionQuote,
  })
  .meta({ id: 'TransactionProposal' });
export type TransactionProposal = z.infer<typeof transactionProposal>;

/** Body of `POST /v1/transactions/submit`. */
export const submitTransactionBody = z
  .strictObject({
    transaction: z.string().max(2000),
    /** The request of the transaction. With it, the error for a transaction that is too old carries a new `proposal`. */
    request: transactionRequest.optional(),
  })
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
