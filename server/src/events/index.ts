export { removeOldEvents, tellEndingRentals } from './event-jobs.js';
export { createEventStreams } from './event-streams.js';
export { eventRoutes } from './routes.js';
export {
  createEmailAddresses,
  removeOldConfirmations,
  SEALED_EMAIL_ADDRESSES,
  type EmailAddresses,
} from './email/addresses.js';
export { createMailer } from './email/mailer.js';
export { emailRoutes } from './email/routes.js';
export { createTellByEmail, EMAIL_CRONTAB, EMAIL_ROUND_TASK, EMAIL_TASK } from './email/tell-by-email.js';
export { createCallbacks, type Callbacks } from './webhooks/callbacks.js';
export {
  createPushConfigs,
  PUSH_ENDS,
  SEALED_PUSHES,
  type Push,
  type PushConfigs,
  type PushEnd,
} from './webhooks/push-configs.js';
export { webhookRoutes } from './webhooks/routes.js';
export { SEALED_WEBHOOKS } from './webhooks/secrets.js';
export { startDeliveries } from './webhooks/start-deliveries.js';
