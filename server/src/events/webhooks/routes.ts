import { operations } from '@agent-rental/contract';
import type { FastifyInstance } from 'fastify';
import { addOperation } from '../../http/operation-route.js';
import { createDeliveries } from './deliveries.js';
import { createWebhooks, type WebhookDeps } from './webhooks.js';

/** Adds the operations of webhooks. */
export function webhookRoutes(app: FastifyInstance, deps: WebhookDeps): void {
  const webhooks = createWebhooks(deps);
  const deliveries = createDeliveries(deps.db);
  addOperation(app, operations.listWebhooks, async ({ principal }) => ({
    webhooks: await webhooks.list(principal.wallet),
  }));
  addOperation(app, operations.createWebhook, ({ principal, body }) =>
    webhooks.create(principal.wallet, body),
  );
  addOperation(app, operations.updateWebhook, ({ principal, params, body }) =>
    webhooks.update(principal.wallet, params.webhook_id, body),
  );
  addOperation(app, operations.deleteWebhook, ({ principal, params }) =>
    webhooks.remove(principal.wallet, params.webhook_id),
  );
  addOperation(app, operations.rotateWebhook, ({ principal, params }) =>
    webhooks.rotate(principal.wallet, params.webhook_id),
  );
  addOperation(app, operations.testWebhook, ({ principal, params }) =>
    webhooks.test(principal.wallet, params.webhook_id),
  );
  addOperation(app, operations.listDeliveries, ({ principal, params, query }) =>
    deliveries.list(principal.wallet, params.webhook_id, query),
  );
  addOperation(app, operations.redeliver, ({ principal, params }) =>
    deliveries.redeliver(principal.wallet, params.webhook_id, params.event_id),
  );
}
