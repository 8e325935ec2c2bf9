import type { UnreachableAgent, VersionChange } from '@agent-rental/contract';
import type { Selectable } from 'kysely';
import type { Db } from '../../database/connection.js';
import type { Database } from '../../database/schema.js';
import { versionChange } from '../../listings/index.js';
import type { Keys } from '../../platform/keys.js';
import { modelOrigin } from '../manifest/model-origin.js';
import { openPrivatePart, type PrivatePart } from '../manifest/private-part.js';
import { toUnreachable } from '../probe-outcome.js';

type ListingRow = Selectable<Database['listings']>;
type VersionRow = Selectable<Database['agent_versions']>;

/** How an agent works, for its reviewer. It holds no key: of a model key only whether there is one. */
export type ReviewedAgent =
  | {
      mode: 'declarative';
      provider: string;
      model: string | null;
      /** Scheme, host and port that the model is asked at. */
      origin: string | null;
      has_model_key: boolean;
      tools: { name: string; scope: string }[];
      system_prompt: string;
    }
  /** The path of an endpoint may hold a secret of its creator. */
  | { mode: 'connected'; origin: string | null };

/** A version as its reviewer judges it. */
export interface ReviewedVersion {
  version: number;
  description: string | null;
  category: string[] | null;
  timeout_seconds: number;
  /** Null once the version cannot run any more. */
  agent: ReviewedAgent | null;
  input_schema: Record<string, unknown>;
  output_schema: Record<string, unknown>;
}

/** All that an operator sees of a listing before a decision. */
export interface ReviewSheet {
  listing_id: string;
  creator: string;
  title: string;
  status: ListingRow['status'];
  review_state: ListingRow['review_state'];
  review_reason: string | null;
  registered_at: string;
  rental_model: ListingRow['rental_model'];
  price_lamports: number | null;
  min_deposit_lamports: number | null;
  free_trial: string | null;
  metadata_uri: string;
  readme: string | null;
  sample_input: unknown;
  sample_output: unknown;
  sample_problem: string | null;
  /** The last probe, or the run for samples in its place. */
  probe: { requested_at: string | null; reached_at: string | null; unreachable: UnreachableAgent | null };
  present: ReviewedVersion;
  /** The version that was approved last, and the meaning of the change for its renters; null where it is the present one. */
  approved: (ReviewedVersion & { change: VersionChange }) | null;
}

/** Opens the sheets of reviews. They hold system prompts: each look is for the log. */
export interface ReviewSheets {
  /** The sheet, and the sealed part of the present version; undefined for an unknown listing. */
  open(listingId: string): Promise<{ sheet: ReviewSheet; part: PrivatePart | undefined } | undefined>;
}

export function createReviewSheets(db: Db, keys: Keys): ReviewSheets {
  const versionOf = (id: string) =>
    db.selectFrom('agent_versions').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
  const partOf = (row: VersionRow) =>
    row.private_part === null ? undefined : openPrivatePart(keys, row.id, row.private_part);

  return {
    async open(listingId) {
      const listing = await db
        .selectFrom('listings')
        .selectAll()
        .where('id', '=', listingId)
        .executeTakeFirst();
      if (!listing) return undefined;
      const { version_id: presentId, approved_version_id: approvedId } = listing;
      const row = await versionOf(presentId);
      const earlier =
        approvedId === null || approvedId === presentId ? undefined : await versionOf(approvedId);
      const probe = await db
        .selectFrom('agent_probes')
        .selectAll()
        .where('listing_id', '=', listingId)
        .executeTakeFirst();
      const part = partOf(row);
      const sheet = {
        ...factsOf(listing),
        probe: {
          requested_at: probe?.requested_at?.toISOString() ?? null,
          reached_at: probe?.reached_at?.toISOString() ?? null,
          unreachable: probe ? toUnreachable(probe) : null,
        },
        present: reviewed(row, part),
        approved: earlier
          ? { ...reviewed(earlier, partOf(earlier)), change: versionChange(earlier, row) }
          : null,
      };
      return { sheet, part };
    },
  };
}

function factsOf(listing: ListingRow): Omit<ReviewSheet, 'probe' | 'present' | 'approved'> {
  const { price_lamports: price, min_deposit_lamports: deposit } = listing;
  return {
    listing_id: listing.id,
    creator: listing.creator,
    title: listing.title,
    status: listing.status,
    review_state: listing.review_state,
    review_reason: listing.review_reason,
    registered_at: listing.created_at.toISOString(),
    rental_model: listing.rental_model,
    price_lamports: price === null ? null : Number(price),
    min_deposit_lamports: deposit === null ? null : Number(deposit),
    free_trial: listing.free_trial,
    metadata_uri: listing.metadata_uri,
    readme: listing.readme,
    sample_input: listing.sample_input,
    sample_output: listing.sample_output,
    sample_problem: listing.sample_problem,
  };
}

function reviewed(row: VersionRow, part: PrivatePart | undefined): ReviewedVersion {
  return {
    version: row.number ?? 0,
    description: row.description,
    category: row.category,
    timeout_seconds: row.timeout_seconds,
    agent: part ? agentOf(part) : null,
    input_schema: row.input_schema,
    output_schema: row.output_schema,
  };
}

function agentOf(part: PrivatePart): ReviewedAgent {
  if (part.mode === 'connected') return { mode: 'connected', origin: originOf(part.entrypointUrl) };
  const { provider, model, key } = part.model;
  return {
    mode: 'declarative',
    provider,
    model: model ?? null,
    origin: modelOrigin(part.model) ?? null,
    has_model_key: key !== undefined,
    tools: part.tools,
    system_prompt: part.systemPrompt,
  };
}

const originOf = (url: string): string | null => (URL.canParse(url) ? new URL(url).origin : null);
