import { operations } from '@agent-rental/contract';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { ownerOf } from '../access/owner.js';
import { addOperation } from '../http/operation-route.js';
import { readPreferences } from '../http/prefer.js';
import type { OriginsOf } from '../identity/index.js';
import type { AskedApprovals } from './service.js';

/** Routes of the questions of API keys. Only the login of a wallet answers them: a key would say yes to itself. */
export function approvalRoutes(app: FastifyInstance, approvals: AskedApprovals, originsOf: OriginsOf): void {
  addOperation(app, operations.listApprovals, async ({ principal }) => ({
    approvals: await approvals.list(ownerOf(principal)),
  }));

  addOperation(app, operations.getApproval, async ({ principal, params, request, reply }) => {
    const { waitSeconds = 0 } = readPreferences(request.headers['prefer']);
    if (waitSeconds > 0) reply.header('Preference-Applied', `wait=${waitSeconds}`);
    const wait = { waitMs: waitSeconds * 1_000, gone: goneSignal(reply) };
    return approvals.read(ownerOf(principal), params.approval_id, wait);
  });

  addOperation(app, operations.answerApproval, ({ principal, params, body, request }) =>
    approvals.answer(ownerOf(principal), params.approval_id, body, new URL(originsOf(request)[0]).host),
  );
}

/** Aborts when the connection breaks before the answer. */
function goneSignal({ raw }: FastifyReply): AbortSignal {
  const controller = new AbortController();
  raw.once('close', () => {
    if (!raw.writableEnded) controller.abort();
  });
  if (raw.destroyed) controller.abort();
  return controller.signal;
}
