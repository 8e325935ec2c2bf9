export type { AskedPayment, CallPayer } from './call-payments.js';
export { isUntrustedChallenge, UntrustedChallengeError } from './challenge.js';
export { createClient } from './client.js';
export type { CallOptions, ClientOptions, ConfirmedOptions, ExecuteOptions, RentalClient } from './client.js';
export {
  createDeadline,
  EVENT_NAMES,
  formatAdded,
  formatSol,
  inSol,
  netLamports,
  type CreatedWebhook,
  type Deadline,
  type EventName,
  type WalletEvent,
  type Webhook,
  type WebhookAttempt,
  type WebhookDelivery,
} from '@agent-rental/contract';
export { ApiError, ConnectionError, isApiError } from './errors.js';
export type { KeptLogin, LoginStore, MessageSigner } from './login.js';
export type { EventsOptions, HeardEvent } from './wallet-events.js';
export { verifyWebhook, type WebhookHeaders } from './webhooks/verify-webhook.js';
