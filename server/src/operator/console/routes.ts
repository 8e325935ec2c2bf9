import { operatorMessage, operations, type WaitingReview } from '@agent-rental/contract';
import type { FastifyInstance } from 'fastify';
import type { Principal } from '../../access/principal.js';
import type { ProtocolReader } from '../../chain/index.js';
import { ApiError } from '../../errors/api-error.js';
import { addOperation } from '../../http/operation-route.js';
import type { ChangeConfirmations } from '../../identity/index.js';
import type { createReadiness } from '../../operations/index.js';
import { listActions, reportedListings } from '../../moderation/index.js';
import { createApprovals, type PendingReview } from '../../registration/index.js';
import { OperatorError } from '../operator-error.js';
import { decide, type DecideParts } from './decide.js';
import { find } from './find.js';
import { readDays } from './overview.js';

const ACTIONS_SHOWN = 100;

/** The dependencies of the operator's console. */
export interface ConsoleDeps extends DecideParts {
  /** Wallets of the operator; empty: there is no console. */
  operatorWallets: ReadonlySet<string>;
  confirmations: Pick<ChangeConfirmations, 'requireText'>;
  readiness: ReturnType<typeof createReadiness>;
  protocol: Pick<ProtocolReader, 'current'>;
}

/** Operations of the operator's console. Any other caller is told that there is no such path. */
export function consoleRoutes(app: FastifyInstance, deps: ConsoleDeps): void {
  const { db, operatorWallets, confirmations, readiness, protocol } = deps;
  const approvals = createApprovals(db);
  const requireOperator = ({ wallet }: Principal): void => {
    if (!operatorWallets.has(wallet)) throw new ApiError('not_found', 'There is nothing at this path.');
  };

  addOperation(app, operations.getOperatorOverview, async ({ principal }) => {
    requireOperator(principal);
    const [{ ready, reasons }, waiting, { feeBps, admin }] = await Promise.all([
      readiness(),
      approvals.pending(),
      protocol.current(),
    ]);
    return {
      ready,
      reasons,
      waiting_reviews: waiting.length,
      admin: admin.toBase58(),
      days: await readDays(db, feeBps),
    };
  });
  addOperation(app, operations.listOperatorReviews, async ({ principal }) => {
    requireOperator(principal);
    const waiting = await approvals.pending();
    return { reviews: waiting.map(toReview), total: waiting.length };
  });
  addOperation(app, operations.listOperatorReports, async ({ principal }) => {
    requireOperator(principal);
    const listings = await reportedListings(db);
    return {
      listings: listings.map(({ oldest_at: oldest, reports, ...listing }) => ({
        ...listing,
        oldest_at: oldest.toISOString(),
        reports: reports.map((report) => ({ ...report, created_at: report.created_at.toISOString() })),
      })),
    };
  });
  addOperation(app, operations.findForOperator, async ({ principal, query: { id } }) => {
    requireOperator(principal);
    return inWords(find(db, id));
  });
  addOperation(app, operations.listOperatorActions, async ({ principal }) => {
    requireOperator(principal);
    const actions = await listActions(db, ACTIONS_SHOWN);
    return {
      actions: actions.map(({ id, action, subject, reason, operator, signature, created_at: createdAt }) => ({
        id: Number(id),
        action,
        subject,
        reason,
        operator,
        signature,
        created_at: createdAt.toISOString(),
      })),
    };
  });
  addOperation(app, operations.decideAsOperator, async ({ principal, body, request }) => {
    requireOperator(principal);
    const signature = await confirmations.requireText(principal, request, {
      why: "A decision of the operator needs the wallet's fresh signature.",
      textOf: (service, challenge) =>
        operatorMessage({ service, wallet: principal.wallet, decision: body }, challenge),
    });
    const by = { operator: principal.wallet, signature };
    return { decided: true as const, ...(await inWords(decide(deps, body, by))) };
  });
}

function toReview(row: PendingReview): WaitingReview {
  const { version, creator, title, description, category, rental_model: model, price_lamports: price } = row;
  return {
    listing_id: row.id,
    version,
    creator,
    title,
    description,
    category,
    rental_model: model,
    price_lamports: price === null ? null : Number(price),
    unreachable: row.unreachable,
    created_at: row.created_at.toISOString(),
  };
}

/** The errors of the operator's commands, as the API tells them. */
async function inWords<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw error instanceof OperatorError ? new ApiError('invalid_request', error.message) : error;
  }
}
