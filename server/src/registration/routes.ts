import { operations } from '@agent-rental/contract';
import type { FastifyInstance } from 'fastify';
import { ownerOf } from '../access/owner.js';
import type { ChangeConfirmations } from '../identity/index.js';
import { addOperation } from '../http/operation-route.js';
import type { CreatorSecrets } from './creator-secrets.js';
import type { DraftRemoval } from './drafts/draft-removal.js';
import type { OwnAgents } from './own-agents.js';
import type { RegistrationService } from './service.js';

/** The dependencies of the routes of registration. */
export interface RegistrationRouteDeps {
  registration: RegistrationService;
  secrets: CreatorSecrets;
  removal: Pick<DraftRemoval, 'remove'>;
  confirmations: ChangeConfirmations;
  ownAgents: OwnAgents;
}

/** Routes of registration, its jobs, and a creator's later changes. */
export function registrationRoutes(app: FastifyInstance, deps: RegistrationRouteDeps): void {
  const { registration, secrets, removal, confirmations, ownAgents } = deps;

  addOperation(app, operations.registerAgent, async ({ principal, body }) =>
    registration.register(ownerOf(principal), body),
  );
  addOperation(app, operations.listAgents, async ({ principal, query }) => {
    const { agents, total, end } = await ownAgents.list(ownerOf(principal), query);
    return { agents, total, limit: query.limit, offset: query.offset, ...end };
  });
  addOperation(app, operations.updateAgent, async ({ principal, params, body, request }) => {
    const listingId = params.listing_id;
    const change = { action: 'update_agent', listingId, body } as const;
    return registration.update(ownerOf(principal), listingId, body, () =>
      confirmations.require(principal, request, change),
    );
  });
  addOperation(app, operations.rollbackAgent, async ({ principal, params, body, request }) => {
    const listingId = params.listing_id;
    const change = { action: 'update_agent', listingId, body } as const;
    return registration.rollback(ownerOf(principal), listingId, body.version, () =>
      confirmations.require(principal, request, change),
    );
  });
  addOperation(app, operations.deleteAgent, async ({ principal, params }) => {
    await removal.remove(principal.wallet, params.listing_id);
    return { listing_id: params.listing_id, deleted: true as const };
  });
  addOperation(app, operations.getJob, async ({ principal, params }) =>
    registration.getJob(params.job_id, ownerOf(principal)),
  );
  addOperation(app, operations.setModelKey, async ({ principal, params, body, request }) => {
    const change = { action: 'set_model_key', listingId: params.id, body } as const;
    await secrets.setModelKey(principal.wallet, params.id, body.model_key, () =>
      confirmations.require(principal, request, change),
    );
    return { listing_id: params.id, updated_at: new Date().toISOString() };
  });
  addOperation(app, operations.rotateWebhookSecret, async ({ principal, params, request }) => {
    const change = { action: 'rotate_webhook_secret', listingId: params.id } as const;
    const { webhookSecret, previousValidUntil } = await secrets.rotateWebhookSecret(
      principal.wallet,
      params.id,
      () => confirmations.require(principal, request, change),
    );
    return {
      listing_id: params.id,
      webhook_secret: webhookSecret,
      previous_valid_until: previousValidUntil.toISOString(),
    };
  });
}
