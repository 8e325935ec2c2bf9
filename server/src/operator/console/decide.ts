import type { Json, OperatorDecided, OperatorDecision } from '@agent-rental/contract';
import type { Chain } from '../../chain/index.js';
import type { Db } from '../../database/connection.js';
import { ApiError } from '../../errors/api-error.js';
import { closeReports, recordAction, type Decider } from '../../moderation/index.js';
import type { Keys } from '../../platform/keys.js';
import {
  createApprovals,
  createReviewSheets,
  type Decided,
  type ReviewRun,
} from '../../registration/index.js';
import { makeTestRun } from '../review/index.js';
import { recordModeration } from './record-moderation.js';
import { giveCredit } from '../support/index.js';

/** The parts that decisions work with. */
export interface DecideParts {
  db: Db;
  keys: Keys;
  chain: Pick<Chain, 'programId' | 'statuses' | 'logsOf'>;
  /** Runs an agent outside any rental. */
  run: ReviewRun;
}

/** Carries out a decision that the operator's wallet signed, and puts it on record. @throws ApiError or OperatorError where it cannot be done. */
export async function decide(
  { db, keys, chain, run }: DecideParts,
  decision: OperatorDecision,
  by: Decider,
): Promise<Omit<OperatorDecided, 'decided'>> {
  const approvals = createApprovals(db);
  switch (decision.action) {
    case 'approve': {
      const { listing_id: id, version } = decision;
      requireDecided(await approvals.decide(id, { approved: true, version }, by));
      return {};
    }
    case 'reject': {
      const { listing_id: id, reason } = decision;
      requireDecided(await approvals.decide(id, { approved: false, reason }, by));
      return {};
    }
    case 'resolve_reports': {
      const { listing_id: id, reason: note } = decision;
      if ((await closeReports(db, id, { note, ...by })) > 0) return {};
      throw new ApiError('invalid_request', 'This listing has no open report.');
    }
    case 'ban':
    case 'unban': {
      const { action, wallet: subject, reason } = decision;
      await recordAction(db, { action, subject, reason, ...by });
      return {};
    }
    case 'take_down':
    case 'restore': {
      await recordModeration(db, chain, decision, by.operator);
      return {};
    }
    case 'credit': {
      await giveCredit(db, decision.run_id, decision.reason, by);
      return {};
    }
    case 'review': {
      const { listing_id: subject, test_run: task } = decision;
      const opened = await createReviewSheets(db, keys).open(subject);
      if (!opened) throw new ApiError('listing_not_found', 'There is no listing with this id.');
      const { version } = opened.sheet.present;
      // Before anything of it is shown.
      await recordAction(db, {
        action: 'review',
        subject,
        ...by,
        details: { version, test_run: task !== undefined },
      });
      const result = task && (await makeTestRun(run, opened, task));
      return { sheet: toJson(opened.sheet), ...(result && { test_run: toJson(result) }) };
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

const toJson = (value: object) => JSON.parse(JSON.stringify(value)) as Record<string, Json>;
