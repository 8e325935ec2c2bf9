import { WEBHOOK_TRIED_DAYS, type WebhookAttempt, type WebhookDelivery } from '@agent-rental/contract';
import { sql, type RawBuilder } from 'kysely';
import type { Db, Tx } from '../../database/connection.js';
import { appendEvent } from '../append-event.js';
import { afterAttempt, restS } from './retries.js';

/** Attempts of a delivery that are kept. */
const ATTEMPTS_KEPT = 20;

/** A webhook whose deliveries were sent. */
export interface SentWebhook {
  id: string;
  wallet: string;
  url: string | null;
  failures: number;
}

/** A delivery that was sent. */
export interface Ended {
  /** Of the event. */
  id: string;
  created_at: Date;
  /** The attempts before. */
  attempts: readonly WebhookAttempt[];
  /** Undefined where the server stopped it: it is sent again at once. */
  attempt: WebhookAttempt | undefined;
  /** The end of the lease. Another end means that another server took the delivery, or a person sent it again. */
  lease: Date;
}

/**
 * Records the results of deliveries that were sent together. The webhook may be sent to again: at once after a success,
 * and after a rest where all failed. One that has failed for days is paused.
 *
 * @returns the states of the deliveries that the server did not stop
 */
export async function recordBatch(
  db: Db,
  webhook: SentWebhook,
  batch: readonly Ended[],
): Promise<WebhookDelivery['status'][]> {
  const sent = batch.map(afterSending);
  const states = sent.flatMap(({ status, isStopped }) => (isStopped ? [] : status));
  const attempts = batch.flatMap(({ attempt }) => attempt ?? []);
  const isFailing = attempts.length > 0 && attempts.every(({ reason }) => reason !== undefined);
  if (!isFailing || webhook.url === null) {
    // Callbacks go to many addresses, so none makes the others rest. Their job comes after the jobs of working webhooks.
    const failures = isFailing ? 1 : attempts.length > 0 ? 0 : sql`failures`;
    await recordDeliveries(db, webhook, sent, {
      rests_until: sql`now()`,
      failures,
      failing_since: attempts.length > 0 && !isFailing ? null : sql`failing_since`,
    });
    return states;
  }
  await db.transaction().execute(async (tx) => {
    const { rows } = await recordDeliveries(tx, webhook, sent, {
      rests_until: sql`now() + make_interval(secs => ${restS(webhook.failures + 1)})`,
      failures: sql`failures + 1`,
      failing_since: sql`coalesce(failing_since, now())`,
    });
    const [failing] = rows;
    if (failing?.is_long === true) await pauseWebhook(tx, webhook, failing.failing_since);
  });
  return states;
}

/** A delivery with its new state. */
interface Sent {
  eventId: string;
  lease: Date;
  status: WebhookDelivery['status'];
  waitS: number;
  attempts: readonly WebhookAttempt[];
  isStopped: boolean;
}

function afterSending({ id: eventId, created_at: eventAt, lease, attempts, attempt }: Ended): Sent {
  if (attempt === undefined)
    return { eventId, lease, status: 'pending', waitS: 0, attempts, isStopped: true };
  const all = [...attempts, attempt];
  const kept = all.slice(-ATTEMPTS_KEPT);
  return { eventId, lease, ...afterAttempt(all, eventAt), attempts: kept, isStopped: false };
}

/** The columns of a webhook after a batch. */
type Released = Record<'rests_until' | 'failures' | 'failing_since', RawBuilder<unknown> | number | null>;

/** Writes down deliveries and their webhook, in one statement. @returns since when a webhook that is not paused fails */
async function recordDeliveries(
  db: Db,
  { id }: SentWebhook,
  sent: readonly Sent[],
  released: Released,
): Promise<{ rows: { failing_since: Date; is_long: boolean | null }[] }> {
  // The webhook first: all that change both take it first.
  return sql<{ failing_since: Date; is_long: boolean | null }>`
    with released as (
      update webhooks set rests_until = ${released.rests_until}, failures = ${released.failures},
        failing_since = ${released.failing_since}
      where id = ${id}::uuid
      returning id, failing_since, paused_at is null
        and failing_since <= now() - make_interval(days => ${WEBHOOK_TRIED_DAYS}) as is_long
    ), recorded as (
      update webhook_deliveries d
      set status = sent.status, attempts = sent.attempts, next_attempt_at = now() + make_interval(secs => sent.wait)
      from released, unnest(${sent.map(({ eventId }) => eventId)}::uuid[], ${sent.map(({ lease }) => lease)}::timestamptz[],
        ${sent.map(({ status }) => status)}::text[], ${sent.map(({ waitS }) => waitS)}::float8[],
        ${sent.map((row) => JSON.stringify(row.attempts))}::jsonb[]) as sent (event_id, lease, status, wait, attempts)
      where d.webhook_id = released.id and d.event_id = sent.event_id and d.next_attempt_at = sent.lease
    )
    select failing_since, is_long from released`.execute(db);
}

/** Pending deliveries end. The wallet hears of it by its other webhooks. */
async function pauseWebhook(tx: Tx, { id, wallet }: SentWebhook, failingSince: Date): Promise<void> {
  await tx
    .updateTable('webhooks')
    .set({ paused_at: sql<Date>`now()` })
    .where('id', '=', id)
    .execute();
  await tx
    .updateTable('webhook_deliveries')
    .set({ status: 'failed' })
    .where('webhook_id', '=', id)
    .where('status', '=', 'pending')
    .execute();
  const data = { webhook_id: id, failing_since: failingSince.toISOString() };
  await appendEvent(tx, { wallet, name: 'webhook.paused', subject: `webhook:${id}`, data });
}
