import { operations } from '@agent-rental/contract';
import type { FastifyInstance } from 'fastify';
import { addOperation } from '../http/operation-route.js';
import { ownerOf } from '../access/owner.js';
import type { CredentialService } from './service.js';

/** Routes of the caller's credentials. */
export function credentialRoutes(app: FastifyInstance, credentials: CredentialService): void {
  addOperation(app, operations.listCredentials, async ({ principal, query }) =>
    credentials.list(ownerOf(principal), query),
  );
  addOperation(app, operations.pinVersion, async ({ principal, params, body }) =>
    credentials.pin(ownerOf(principal), params.listing_id, body.version),
  );
  addOperation(app, operations.verifyCredential, async ({ principal, params }) =>
    credentials.verify(principal.wallet, params.listing_id),
  );
}
