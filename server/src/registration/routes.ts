import { operations } from '@agent-rental/contract';
import type { FastifyInstance } from 'fastify';
import { addOperation } from '../http/operation-route.js';
import type { CreatorSecrets } from './creator-secrets.js';
import type { RegistrationService } from './service.js';

/** Routes of registration, its jobs, and what a creator changes afterwards. */
export function registrationRoutes(
  app: FastifyInstance,
  registration: RegistrationService,
  secrets: CreatorSecrets,
): void {
  addOperation(app, operations.registerAgent, async ({ principal, body }) =>
    registration.register(principal.wallet, body),
  );
  addOperation(app, operations.updateAgent, async ({ principal, params, body }) =>
    registration.update(principal.wallet, params.listing_id, body),
  );
  addOperation(app, operations.getJob, async ({ principal, params }) =>
    registration.getJob(params.job_id, principal.wallet),
  );
  addOperation(app, operations.setModelKey, async ({ principal, params, body }) => {
    await secrets.setModelKey(principal.wallet, params.id, body.model_key);
    return { listing_id: params.id, updated_at: new Date().toISOString() };
  });
  addOperation(app, operations.rotateWebhookSecret, async ({ principal, params }) => {
    const { webhookSecret, previousValidUntil } = await secrets.rotateWebhookSecret(
      principal.wallet,
      params.id,
    );
    return {
      listing_id: params.id,
      webhook_secret: webhookSecret,
      previous_valid_until: previousValidUntil.toISOString(),
    };
  });
}
