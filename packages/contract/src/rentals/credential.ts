import * as z from 'zod';
import { cursorPage, listingId, pageEnd, rentalModel, timestamp, type jsonSchema } from '../primitives.js';

/** Status of a credential that a wallet holds. */
export const credentialStatus = z.enum(['active', 'expired', 'low_balance']).meta({ id: 'CredentialStatus' });
export type CredentialStatus = z.infer<typeof credentialStatus>;

/** What a rented listing is called with: enough to describe it to a model. */
export const rentedListing = z
  // The schema came as JSON and was checked when it was published: to walk it again, in every list of hundreds, costs
  // more than all the rest of the answer.
  .object({
    description: z.string(),
    price_lamports: z.int(),
    input_schema: z.record(z.string(), z.unknown()) as unknown as typeof jsonSchema,
    /** Since when it fails, as the listing says. */
    failing_since: timestamp.optional(),
  })
  .meta({ id: 'RentedListing' });
export type RentedListing = z.infer<typeof rentedListing>;

/** What a change of a rented agent means for a renter that calls it as before. */
export const rentalUpdate = z
  .object({
    /** The version that the renter ran last, or that ran when it rented. */
    from_version: z.int().min(1),
    /** The version that runs now. */
    version: z.int().min(1),
    /** `breaking`: an input that was taken may be refused, or an output may have another form. */
    kind: z.enum(['compatible', 'breaking']),
  })
  .meta({ id: 'RentalUpdate' });
export type RentalUpdate = z.infer<typeof rentalUpdate>;

/** A rental as `GET /v1/credentials` lists it. */
export const credential = z
  .object({
    listing_id: listingId,
    listing_title: z.string(),
    rental_model: rentalModel,
    status: credentialStatus,
    purchased_at: timestamp,
    expires_at: timestamp.nullable(),
    pda_address: z.string(),
    /** What is left of a Per-Task balance; absent for the other models. */
    balance_lamports: z.int().optional(),
    /** With `include=listing`: of the pinned version, where one is pinned. */
    listing: rentedListing.optional(),
    /** The version that the caller's runs run, where it is pinned. */
    pinned_version: z.int().min(1).optional(),
    /** The agent has changed since the caller's last run of it, or since it was rented; not where a version is pinned. */
    update: rentalUpdate.optional(),
  })
  .meta({ id: 'Credential' });
export type Credential = z.infer<typeof credential>;

/**
 * Query of `GET /v1/credentials`. `status=current`: all but those that expired more than 24 hours ago; what a conversation
 * may have started with. `include=listing` spares a request per rental.
 */
export const listCredentialsQuery = z.strictObject({
  status: z.enum([...credentialStatus.options, 'current']).optional(),
  include: z.literal('listing').optional(),
  ...cursorPage,
});

/** Answer of `GET /v1/credentials`: the most recent rentals first. */
export const listCredentialsResponse = z
  .object({ credentials: z.array(credential), total: z.int(), ...pageEnd })
  .meta({ id: 'CredentialPage' });
export type CredentialPage = z.infer<typeof listCredentialsResponse>;

/** Answer of `GET /v1/credentials/:listing_id`: the index and the chain, checked together. */
export const credentialVerification = z
  .object({
    listing_id: listingId,
    rental_model: rentalModel.optional(),
    status: z.enum([...credentialStatus.options, 'not_found']),
    valid: z.boolean(),
    expired_at: timestamp.optional(),
    pda_address: z.string().optional(),
    on_chain_verified: z.boolean(),
    /** What is left of a Per-Task balance, read from the chain. */
    balance_lamports: z.int().optional(),
  })
  .meta({ id: 'CredentialVerification' });
export type CredentialVerification = z.infer<typeof credentialVerification>;

/** Body of `PUT /v1/credentials/:listing_id/version`. Null takes the pin away. */
export const pinVersionBody = z
  .strictObject({ version: z.int().min(1).max(1_000_000).nullable() })
  .meta({ id: 'PinVersion' });

/** Answer of `PUT /v1/credentials/:listing_id/version`. */
export const pinnedVersion = z
  .object({
    listing_id: listingId,
    /** Whose runs were meant: all of the wallet, or those of the API key that asked. */
    scope: z.enum(['wallet', 'api_key']),
    /** The version that these runs run from now on, and no other; null: the latest one. */
    pinned_version: z.int().min(1).nullable(),
    latest_version: z.int().min(1),
  })
  .meta({ id: 'VersionPin' });
export type PinnedVersion = z.infer<typeof pinnedVersion>;
