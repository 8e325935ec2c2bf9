import * as z from 'zod';
import { README_MAX_BYTES } from '../limits.js';
import { ICON_MAX_BYTES, iconProblem } from './icon.js';
import {
  freeTrial,
  jsonObject,
  jsonValue,
  lamports,
  listingId,
  rentalModel,
  timestamp,
} from '../primitives.js';

/** Price limits that the on-chain program enforces, in lamports. `minQuery`: the usual least price of a Per-Task listing. */
export const PRICE_LAMPORTS = { min: 1_000, minQuery: 200_000, max: 1_000_000_000_000_000 } as const;

/** The README of a listing: Markdown, which the listing's page shows as safe HTML without images. */
const readme = z
  .string()
  .max(README_MAX_BYTES, { abort: true })
  .refine((text) => new TextEncoder().encode(text).length <= README_MAX_BYTES, {
    error: `has more than ${README_MAX_BYTES} bytes`,
  });

/** Longest notes of a version. */
export const VERSION_NOTES_CHARACTERS = 500;

/** The bytes of a text in base64; undefined for another text. */
function base64Bytes(text: string): Uint8Array | undefined {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}

/** The icon of a listing: a square PNG or WebP, in base64. */
const icon = z
  .string()
  .max(Math.ceil(ICON_MAX_BYTES / 3) * 4, { abort: true, error: `has more than ${ICON_MAX_BYTES} bytes` })
  .superRefine((text, { addIssue }) => {
    const bytes = base64Bytes(text);
    const message = bytes === undefined ? 'is not base64' : iconProblem(bytes);
    if (message !== undefined) addIssue({ code: 'custom', message });
  });

/** Terms of the listing, which the creator gives beside the manifest. */
export const listingTerms = z
  .strictObject({
    title: z.string().min(1).max(120).optional(),
    rental_model: rentalModel,
    /** Its least value depends on the rental model: see `priceViolations`. */
    price_lamports: lamports.max(PRICE_LAMPORTS.max).meta({ minimum: PRICE_LAMPORTS.min }),
    min_deposit_lamports: lamports.max(PRICE_LAMPORTS.max).optional(),
    runs_per_minute: z.int().min(1).max(100_000).optional(),
    sample_input: z.union([z.string(), jsonObject]).optional(),
    sample_output: z.array(z.string().max(4000)).min(1).max(3).optional(),
    /** False: the agent has no nightly runs. */
    health_checks: z.boolean().optional(),
    /** True: the first run of each wallet is free and needs no rental. `renters`: of wallets that rent from another creator. */
    free_trial: freeTrial.optional(),
    /** Markdown for the listing's page, at most 20 KB. It is no part of a version and is not on-chain. */
    readme: readme.optional(),
    /** A square PNG or WebP of at most 64 KiB, in base64. It is no part of a version and is not on-chain. */
    icon: icon.optional(),
  })
  .meta({ id: 'ListingTerms' });
export type ListingTerms = z.infer<typeof listingTerms>;

/**
 * Changes of a listing's terms. Absent terms stay. A null `runs_per_minute` restores the service's default, and
 * a null `readme` or `icon` removes it.
 */
export const listingChanges = listingTerms
  .partial()
  .extend({
    runs_per_minute: listingTerms.shape.runs_per_minute.nullable(),
    readme: listingTerms.shape.readme.nullable(),
    icon: listingTerms.shape.icon.nullable(),
  })
  .meta({ id: 'ListingChanges' });
export type ListingChanges = z.infer<typeof listingChanges>;

/**
 * Body of `POST /v1/agents`: a manifest, with `listing` and the write-only `model_key` beside its fields.
 * The manifest itself is validated by the job, so that a creator gets every violation at once.
 */
export const registerAgentBody = z
  .looseObject({ listing: jsonValue.optional(), model_key: z.string().min(1).max(500).optional() })
  .meta({ id: 'RegisterAgent' });

/**
 * Body of `PATCH /v1/agents/:listing_id`: changed fields of the manifest, as a merge patch (RFC 7396) on its top level.
 * Null removes a field. `listing` changes the terms (`ListingChanges`). `POST /v1/transactions` changes the price of a
 * published listing, on-chain.
 */
export const updateAgentBody = z
  .looseObject({
    listing: jsonValue.optional(),
    model_key: z.string().min(1).max(500).optional(),
    /** The changes of the new version, in words for renters. Everyone sees them. */
    version_notes: z.string().min(1).max(VERSION_NOTES_CHARACTERS).optional(),
  })
  .meta({ id: 'UpdateAgent' });

/** Answer of `DELETE /v1/agents/:listing_id`. */
export const deletedAgent = z
  .object({ listing_id: listingId, deleted: z.literal(true) })
  .meta({ id: 'DeletedAgent' });

/** Body of `PUT /v1/listings/:id/model-key`. */
export const modelKeyBody = z
  .strictObject({ model_key: z.string().min(1).max(500) })
  .meta({ id: 'ModelKey' });

/** Answer of `PUT /v1/listings/:id/model-key`: never the key. */
export const modelKeySet = z
  .object({ listing_id: listingId, updated_at: timestamp })
  .meta({ id: 'ModelKeySet' });

/** Answer of `POST /v1/listings/:id/webhook-secret`. */
export const webhookSecretRotation = z
  .object({
    listing_id: listingId,
    /** Shown here only. */
    webhook_secret: z.string(),
    /** Until this time, calls carry a signature of the previous secret, too. */
    previous_valid_until: timestamp,
  })
  .meta({ id: 'WebhookSecretRotation' });

/** The effect of an update on renters who call the previous version. */
export const versionChange = z
  .object({
    /** `breaking`: the new version may refuse an input that the previous one took, or return another form of output. */
    kind: z.enum(['compatible', 'breaking']),
    /** Breaking changes, each with its place in the schemas; empty for a compatible update. */
    reasons: z.array(z.string()),
  })
  .meta({ id: 'VersionChange' });
export type VersionChange = z.infer<typeof versionChange>;

/** A version of a listing, as everyone sees it. */
export const publicVersion = z
  .object({
    version: z.int().min(1),
    created_at: timestamp,
    /** Its effect on renters of the version before. Null for the first one. */
    change: versionChange.nullable(),
    /** The creator's notes. Absent without any. */
    notes: z.string().optional(),
  })
  .meta({ id: 'PublicVersion' });
export type PublicVersion = z.infer<typeof publicVersion>;

/** Answer of `GET /v1/listings/:id/versions`: the latest ones, the newest first. */
export const listVersionsResponse = z
  .object({ versions: z.array(publicVersion) })
  .meta({ id: 'VersionList' });

/** Body of `POST /v1/agents/:listing_id/rollback`. */
export const rollbackAgentBody = z
  .strictObject({ version: z.int().min(1).max(1_000_000) })
  .meta({ id: 'RollbackAgent' });

/** Answer of `POST /v1/agents`. */
export const registerAgentResponse = z
  .object({
    job_id: z.string(),
    status: z.literal('queued'),
    /** Signs the calls to a connected agent (Standard Webhooks). Shown here only. */
    webhook_secret: z.string().optional(),
    /** For an update that changes the manifest: its effect on renters, if it is valid. */
    change: versionChange.optional(),
  })
  .meta({ id: 'AgentRegistration' });

/** The creator's next request, for instance for the transaction that publishes. */
export const nextAction = z
  .object({ method: z.string(), path: z.string(), body: jsonObject })
  .meta({ id: 'NextAction' });

/** A registration job. */
export const job = z
  .object({
    job_id: z.string(),
    status: z.enum(['queued', 'completed', 'failed']),
    result: z.object({ agent_id: listingId, listing_id: listingId }).optional(),
    error: z
      .object({
        code: z.literal('invalid_manifest'),
        message: z.string(),
        details: z.array(z.object({ path: z.string(), message: z.string() })),
      })
      .optional(),
    review: z
      .object({ state: z.enum(['pending', 'approved', 'rejected']), reasons: z.array(z.string()) })
      .optional(),
    /** Weak points of the agent, each with its remedy. They refuse nothing. Present in a completed job. */
    warnings: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
    next_action: nextAction.optional(),
  })
  .meta({ id: 'Job' });
export type Job = z.infer<typeof job>;
