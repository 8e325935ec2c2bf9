import type { UnreachableAgent } from '@agent-rental/contract';
import { sql, type Selectable } from 'kysely';
import type { Db } from '../../database/connection.js';
import type { Database } from '../../database/schema.js';
import { recordAction, type Decider } from '../../moderation/index.js';
import { toUnreachable } from '../probe-outcome.js';

/** A registration that waits for the operator. */
export type PendingReview = Pick<
  Selectable<Database['listings']>,
  | 'id'
  | 'creator'
  | 'title'
  | 'description'
  | 'category'
  | 'rental_model'
  | 'price_lamports'
  | 'metadata_uri'
  | 'created_at'
> & {
  /** Number of the version that waits, from 1. */
  version: number;
  /** Why the service did not reach the agent, where its last probe failed. */
  unreachable: UnreachableAgent | null;
};

/** An approval is of one version; without a number, of the only one that there is. */
type ReviewDecision = { approved: true; version?: number | undefined } | { approved: false; reason: string };

/**
 * The result of a decision. `changed`: nothing is stored, because the draft has another version than the decision
 * names.
 */
export type Decided = { outcome: 'decided' | 'not_found' } | { outcome: 'changed'; version: number };

/** The next ones are shown once these are decided. */
const MOST_PENDING = 100;

/** The operator's decisions on first versions. */
export interface Reviews {
  /** Longest waiting first; at most 100. */
  pending(): Promise<PendingReview[]>;
  /** Decides on a draft, and puts that on record. A decision may be changed until the listing is published. */
  decide(listingId: string, decision: ReviewDecision, by: Decider): Promise<Decided>;
}

export function createApprovals(db: Db): Reviews {
  return {
    async pending() {
      const rows = await db
        .selectFrom((eb) =>
          eb
            .selectFrom('listings')
            .select([
              'id',
              'creator',
              'title',
              'description',
              'category',
              'rental_model',
              'price_lamports',
              'metadata_uri',
              'created_at',
              versionNumber.as('version'),
            ])
            .where('status', '=', 'draft')
            .where(({ eb: of, or }) =>
              or([
                of('review_state', '=', 'pending'),
                sql<boolean>`review_state = 'approved' and approved_version_id is distinct from version_id`,
              ]),
            )
            .orderBy('created_at')
            .orderBy('id')
            .limit(MOST_PENDING)
            .as('waiting'),
        )
        .leftJoin('agent_probes', 'agent_probes.listing_id', 'waiting.id')
        .selectAll('waiting')
        .select(['reason', 'http_status', 'detail', 'unreachable_since', 'failed_at'])
        .orderBy('created_at')
        .orderBy('id')
        .execute();
      return rows.map(({ reason, http_status, detail, unreachable_since, failed_at, ...row }) => ({
        ...row,
        version: Number(row.version),
        unreachable: toUnreachable({ reason, http_status, detail, unreachable_since, failed_at }),
      }));
    },

    decide: (listingId, decision, by) =>
      db.transaction().execute(async (tx) => {
        const draft = await tx
          .selectFrom('listings')
          .select('version_id')
          .where('id', '=', listingId)
          .where('status', '=', 'draft')
          .forUpdate()
          .executeTakeFirst();
        if (!draft) return { outcome: 'not_found' };
        // After the lock, so that the number belongs to the present version.
        const { version } = await tx
          .selectFrom('listings')
          .select(versionNumber.as('version'))
          .where('id', '=', listingId)
          .executeTakeFirstOrThrow();
        const present = Number(version);
        if (decision.approved && (decision.version ?? 1) !== present) {
          return { outcome: 'changed', version: present };
        }
        await tx
          .updateTable('listings')
          .set(
            decision.approved
              ? { review_state: 'approved', review_reason: null, approved_version_id: draft.version_id }
              : { review_state: 'rejected', review_reason: decision.reason },
          )
          .where('id', '=', listingId)
          .execute();
        await recordAction(tx, {
          action: decision.approved ? 'approve' : 'reject',
          ...by,
          subject: listingId,
          details: { version: present },
          ...(decision.approved ? {} : { reason: decision.reason }),
        });
        return { outcome: 'decided' };
      }),
  };
}

/** A draft's versions are never removed one by one, so counting them numbers them. */
const versionNumber = sql<bigint>`(select count(*) from agent_versions where listing_id = listings.id)`;
