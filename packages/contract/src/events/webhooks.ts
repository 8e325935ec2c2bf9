import * as z from 'zod';
import { cursorPage, pageEnd, timestamp } from '../primitives.js';
import { EVENT_NAMES, type EventName } from './events.js';

/** The most webhooks of a wallet. */
export const MAX_WEBHOOKS = 10;
/** How long a delivery is tried again. */
export const WEBHOOK_TRIED_DAYS = 3;
/** How long the replaced secret signs beside the new one. */
export const WEBHOOK_SECRET_OVERLAP_HOURS = 24;
/** Longest time of one attempt, in milliseconds. */
export const WEBHOOK_TIMEOUT_MS = 10_000;

/** Events of one run, which its `callback_url` may hear of. */
export const CALLBACK_EVENTS = ['run.completed', 'run.failed', 'run.credited'] as const satisfies EventName[];

/** An https address that hears of events. */
export const webhookUrl = z.url({ protocol: /^https?$/ }).max(2_000);

/** Hears of the end of one run. `events` absent: all of {@link CALLBACK_EVENTS}. */
export const runCallback = z.strictObject({
  url: webhookUrl,
  events: z.array(z.enum(CALLBACK_EVENTS)).min(1).max(CALLBACK_EVENTS.length).optional(),
});
export type RunCallback = z.infer<typeof runCallback>;

/** The events that are told; absent: all. */
const events = z.array(z.enum(EVENT_NAMES)).min(1).max(EVENT_NAMES.length);

/** An address that hears of a wallet's events. Without `url` it signs the callbacks of runs. */
export const webhook = z
  .object({
    id: z.uuid(),
    url: webhookUrl.optional(),
    events: events.optional(),
    created_at: timestamp,
    /** The first of the attempts that failed since the last success. */
    failing_since: timestamp.optional(),
    /** It hears of nothing until it is resumed. */
    paused_at: timestamp.optional(),
  })
  .meta({ id: 'Webhook' });
export type Webhook = z.infer<typeof webhook>;

/** Without `url`, the webhook signs the callbacks of runs; a wallet has one such webhook. */
export const createWebhookBody = z
  .strictObject({ url: webhookUrl.optional(), events: events.optional() })
  .meta({ id: 'CreateWebhook' });

/** A webhook with its signing secret (`whsec_…`), which is shown once. */
export const createdWebhook = webhook.extend({ secret: z.string() }).meta({ id: 'CreatedWebhook' });
export type CreatedWebhook = z.infer<typeof createdWebhook>;

/** Fields that are absent stay. `events: null` tells all events; `paused: false` resumes. */
export const updateWebhookBody = z
  .strictObject({
    url: webhookUrl.optional(),
    events: events.nullable().optional(),
    paused: z.boolean().optional(),
  })
  .meta({ id: 'UpdateWebhook' });

export const listWebhooksResponse = z
  .object({ webhooks: z.array(webhook) })
  .meta({ id: 'ListWebhooksResponse' });

/** The result of one request to a webhook. */
export const webhookAttempt = z
  .object({
    at: timestamp,
    duration_ms: z.int().min(0),
    /** Absent where no answer came. */
    http_status: z.int().optional(),
    /** Why it counts as failed; absent for a delivered one. */
    reason: z.string().optional(),
  })
  .meta({ id: 'WebhookAttempt' });
export type WebhookAttempt = z.infer<typeof webhookAttempt>;

/** The delivery of one event to one webhook, with its attempts, the oldest first. */
export const webhookDelivery = z
  .object({
    event_id: z.uuid(),
    name: z.enum(EVENT_NAMES),
    subject: z.string(),
    created_at: timestamp,
    status: z.enum(['pending', 'delivered', 'failed']),
    attempts: z.array(webhookAttempt),
    next_attempt_at: timestamp.optional(),
  })
  .meta({ id: 'WebhookDelivery' });
export type WebhookDelivery = z.infer<typeof webhookDelivery>;

export const listDeliveriesQuery = z.strictObject({ limit: cursorPage.limit, cursor: cursorPage.cursor });

/** Deliveries of a webhook, the newest first. */
export const listDeliveriesResponse = z
  .object({ deliveries: z.array(webhookDelivery), next_cursor: pageEnd.next_cursor })
  .meta({ id: 'ListDeliveriesResponse' });
