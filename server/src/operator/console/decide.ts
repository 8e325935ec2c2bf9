import type { OperatorDecision } from '@agent-rental/contract';
import type { Db } from '../../database/connection.js';
import { ApiError } from '../../errors/api-error.js';
import { closeReports, recordAction, type Decider } from '../../moderation/index.js';
import { createApprovals, type Decided } from '../../registration/index.js';

/** Carries out a decision that the operator's wallet signed, and puts it on record. @throws ApiError where it cannot be done. */
export async function decide(db: Db, decision: OperatorDecision, by: Decider): Promise<void> {
  const approvals = createApprovals(db);
  switch (decision.action) {
    case 'approve': {
      const { listing_id: id, version } = decision;
      return requireDecided(await approvals.decide(id, { approved: true, version }, by));
    }
    case 'reject': {
      const { listing_id: id, reason } = decision;
      return requireDecided(await approvals.decide(id, { approved: false, reason }, by));
    }
    case 'resolve_reports': {
      const { listing_id: id, reason: note } = decision;
      if ((await closeReports(db, id, { note, ...by })) > 0) return;
      throw new ApiError('invalid_request', 'This listing has no open report.');
    }
    case 'ban':
    case 'unban': {
      const { action, wallet: subject, reason } = decision;
      return recordAction(db, { action, subject, reason, ...by });
    }
    default:
      return decision satisfies never;
  }
}

function requireDecided(decided: Decided): void {
  switch (decided.outcome) {
    case 'decided':
      return;
    case 'not_found':
      throw new ApiError('listing_not_found', 'There is no unpublished listing with this id.');
    case 'changed':
      throw new ApiError('invalid_request', `Version ${decided.version} waits now.`, {
        next: 'Look at it first, and then decide about that version.',
      });
    default:
      decided satisfies never;
  }
}
