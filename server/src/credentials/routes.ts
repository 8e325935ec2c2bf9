import { operations } from '@agent-rental/contract';
import type { FastifyInstance } from 'fastify';
import { addOperation } from '../http/operation-route.js';
import type { CredentialService } from './service.js';

/** Routes of the caller's credentials. */
export function credentialRoutes(app: FastifyInstance, credentials: CredentialService): void {
  addOperation(app, operations.listCredentials, async ({ principal, query }) =>
    credentials.list(principal.wallet, query),
  );
  addOperation(app, operations.verifyCredential, async ({ principal, params }) =>
    credentials.verify(principal.wallet, params.listing_id),
  );
}
