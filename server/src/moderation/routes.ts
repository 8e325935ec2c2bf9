import { operations } from '@agent-rental/contract';
import type { FastifyInstance } from 'fastify';
import { addOperation } from '../http/operation-route.js';
import type { Reports } from './reports.js';

/** The route of reports about listings. */
export function reportRoutes(app: FastifyInstance, reports: Reports): void {
  addOperation(app, operations.createReport, async ({ principal, params, body }) =>
    reports.report(params.id, principal, body),
  );
}
