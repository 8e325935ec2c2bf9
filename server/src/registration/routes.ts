import { operations } from '@agent-rental/contract';
import type { FastifyInstance } from 'fastify';
import { addOperation } from '../platform/operation-route.js';
import type { RegistrationService } from './service.js';

/** Routes of registration and its jobs. */
export function registrationRoutes(app: FastifyInstance, registration: RegistrationService): void {
  addOperation(app, operations.registerAgent, async ({ principal, body }) =>
    registration.register(principal.wallet, body),
  );
  addOperation(app, operations.getJob, async ({ principal, params }) =>
    registration.getJob(params.job_id, principal.wallet),
  );
}
