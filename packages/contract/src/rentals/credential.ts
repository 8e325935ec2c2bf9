import * as z from 'zod';
import { cursorPage, listingId, pageEnd, rentalModel, timestamp, type jsonSchema } from '../primitives.js';

/** Status of a credential that a wallet holds. `suspended`: the operator has suspended the listing. */
export const credentialStatus = z
  .enum(['active', 'expired', 'low_balance', 'suspended'])
  .meta({ id: 'CredentialStatus' });
export type CredentialStatus = z.infer<typeof credentialStatus>;

/** The fields of a rented listing that describe it to a model. */
export const rentedListing = z
  // Publication has already checked the schema. A second check, in a list of hundreds, costs more than the rest of the answer.
  .object({
    description: z.string(),
    price_lamports: z.int(),
    input_schema: z.record(z.string(), z.unknown()) as unknown as typeof jsonSchema,
    /** `failing_since` of the listing. */
    failing_since: timestamp.optional(),
  })
  .meta({ id: 'RentedListing' });
export type RentedListing = z.infer<typeof rentedListing>;

/** The effect of an agent's change on a renter that calls it as before. */
export const rentalUpdate = z
  .object({
    /** The version of the renter's last run, or the current version at the time of the rental. */
    from_version: z.int().min(1),
    /** The current version. */
    version: z.int().min(1),
    /** `breaking`: the current version may refuse an input that the other one took, or return another form of output. */
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
    /** `icon_path` of the listing. */
    icon_path: z.string().optional(),
    /** The remaining Per-Task balance; absent for the other models. */
    balance_lamports: z.int().optional(),
    /** With `include=listing`: the pinned version, or the latest one without a pin. */
    listing: rentedListing.optional(),
    /** The pinned version of the caller's runs, where there is one. */
    pinned_version: z.int().min(1).optional(),
    /** The agent has changed since the caller's last run of it, or since the rental. Absent with a pinned version. */
    update: rentalUpdate.optional(),
  })
  .meta({ id: 'Credential' });
export type Credential = z.infer<typeof credential>;

/**
 * Query of `GET /v1/credentials`. `status=current` leaves out rentals that expired more than 24 hours ago, so that a
 * conversation keeps its rentals. `include=listing` spares a request per rental.
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
    /** The remaining Per-Task balance, read from the chain. */
    balance_lamports: z.int().optional(),
  })
  .meta({ id: 'CredentialVerification' });
export type CredentialVerification = z.infer<typeof credentialVerification>;

/** Body of `PUT /v1/credentials/:listing_id/version`. Null removes the pin. */
export const pinVersionBody = z
  .strictObject({ version: z.int().min(1).max(1_000_000).nullable() })
  .meta({ id: 'PinVersion' });

/** Answer of `PUT /v1/credentials/:listing_id/version`. */
export const pinnedVersion = z
  .object({
    listing_id: listingId,
    /** Scope of the pin: all runs of the wallet, or only the runs of the calling API key. */
    scope: z.enum(['wallet', 'api_key']),
    /** The only version of these runs from now on; null: the latest version. */
    pinned_version: z.int().min(1).nullable(),
    latest_version: z.int().min(1),
  })
  .meta({ id: 'VersionPin' });
export type PinnedVersion = z.infer<typeof pinnedVersion>;
