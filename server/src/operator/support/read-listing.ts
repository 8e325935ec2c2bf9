import type { Db } from '../../database/connection.js';
import { createAgentStats } from '../../runs/index.js';
import { OperatorError } from '../operator-error.js';
import { decisionsAbout } from './decisions.js';

const MOST_VERSIONS = 20;
const MOST_REPORTS = 20;

/** The facts of a listing: none of its prompts or keys. @throws OperatorError for an unknown one */
export async function readListing(db: Db, id: string) {
  const listing = await db.selectFrom('listings').selectAll().where('id', '=', id).executeTakeFirst();
  if (!listing) throw new OperatorError(`There is no listing ${JSON.stringify(id)}.`);
  const versions = await db
    .selectFrom('agent_versions')
    .select(['id', 'number', 'created_at', 'change_kind'])
    .where('listing_id', '=', id)
    .orderBy('number', 'desc')
    .limit(MOST_VERSIONS)
    .execute();
  const probe = await db
    .selectFrom('agent_probes')
    .select(['reached_at', 'unreachable_since', 'reason', 'http_status', 'detail'])
    .where('listing_id', '=', id)
    .executeTakeFirst();
  const reports = await db
    .selectFrom('listing_reports')
    .select(['reason', 'text', 'created_at'])
    .where('listing_id', '=', id)
    .where('closed_at', 'is', null)
    .orderBy('created_at', 'desc')
    .limit(MOST_REPORTS)
    .execute();
  const { runs, duration_ms, failures, refusals, health } = await createAgentStats(db).read(
    listing.creator,
    id,
    '24h',
  );
  return {
    listing_id: id,
    title: listing.title,
    creator: listing.creator,
    status: listing.status,
    review: { state: listing.review_state, reason: listing.review_reason },
    rental_model: listing.rental_model,
    price_lamports: listing.price_lamports === null ? null : Number(listing.price_lamports),
    registered_at: listing.created_at.toISOString(),
    published_at: listing.published_at?.toISOString() ?? null,
    unverified_since: listing.unverified_at?.toISOString() ?? null,
    runs_per_minute: {
      of_the_creator: listing.runs_per_minute,
      of_the_operator: listing.operator_runs_per_minute,
    },
    versions: versions.map((row) => ({
      version: row.number,
      made_at: row.created_at.toISOString(),
      change: row.change_kind,
      runs_now: row.id === listing.version_id,
      approved: row.id === listing.approved_version_id,
    })),
    probe: {
      reached_at: probe?.reached_at?.toISOString() ?? null,
      unreachable_since: probe?.unreachable_since?.toISOString() ?? null,
      reason: probe?.reason ?? null,
      http_status: probe?.http_status ?? null,
      detail: probe?.detail ?? null,
    },
    health,
    open_reports: reports.map((row) => ({
      reason: row.reason,
      text: row.text,
      at: row.created_at.toISOString(),
    })),
    decisions: await decisionsAbout(db, id),
    all_runs: { started: listing.run_count, completed: listing.completed_count },
    reviews: { count: listing.review_count, rating_sum: listing.rating_sum },
    last_24_hours: { runs, duration_ms, failures, refusals },
  };
}
