import { WEBHOOK_TRIED_DAYS, type WebhookAttempt, type WebhookDelivery } from '@agent-rental/contract';
import { sql } from 'kysely';
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

/** Deliveries that were sent together to one webhook. */
export interface Batch {
  webhook: SentWebhook;
  sent: readonly Ended[];
}

/**
 * Records the results of batches, each of another webhook. Each webhook may be sent to again: at once after a success,
 * and after a rest where all failed. One that has failed for days is paused.
 *
 * @returns the states of the deliveries that the server did not stop
 */
export async function recordBatches(db: Db, batches: readonly Batch[]): Promise<WebhookDelivery['status'][]> {
  const sent = batches.flatMap((batch) => batch.sent.map((ended) => afterSending(batch.webhook.id, ended)));
  const released = batches.map(release);
  if (!released.some(({ isFailing }) => isFailing === true)) {
    await recordDeliveries(db, released, sent);
  } else {
    await db.transaction().execute(async (tx) => {
      const { rows } = await recordDeliveries(tx, released, sent);
      for (const { id, wallet, failing_since, is_long } of rows) {
        if (is_long === true) await pauseWebhook(tx, { id, wallet }, failing_since);
      }
    });
  }
  return sent.flatMap(({ status, isStopped }) => (isStopped ? [] : status));
}

/** A webhook after its batch. */
interface Released {
  id: string;
  restS: number;
  failures: number;
  /** Undefined where this batch does not tell. */
  isFailing: boolean | undefined;
}

function release({ webhook: { id, url, failures }, sent }: Batch): Released {
  const attempts = sent.flatMap(({ attempt }) => attempt ?? []);
  if (attempts.length === 0) return { id, restS: 0, failures, isFailing: undefined };
  if (attempts.some(({ reason }) => reason === undefined))
    return { id, restS: 0, failures: 0, isFailing: false };
  // Callbacks go to many addresses, so none makes the others rest. Their job comes after the jobs of working webhooks.
  if (url === null) return { id, restS: 0, failures: 1, isFailing: undefined };
  return { id, restS: restS(failures + 1), failures: failures + 1, isFailing: true };
}

/** A delivery with its new state. */
interface Sent {
  webhookId: string;
  eventId: string;
  lease: Date;
  status: WebhookDelivery['status'];
  waitS: number;
  attempts: readonly WebhookAttempt[];
  isStopped: boolean;
}

function afterSending(
  webhookId: string,
  { id: eventId, created_at: eventAt, lease, attempts, attempt }: Ended,
): Sent {
  const ids = { webhookId, eventId, lease };
  if (attempt === undefined) return { ...ids, status: 'pending', waitS: 0, attempts, isStopped: true };
  const all = [...attempts, attempt];
  const kept = all.slice(-ATTEMPTS_KEPT);
  return { ...ids, ...afterAttempt(all, eventAt), attempts: kept, isStopped: false };
}

/** Writes down deliveries and their webhooks, in one statement. @returns since when those fail that are not paused */
async function recordDeliveries(
  db: Db,
  released: readonly Released[],
  sent: readonly Sent[],
): Promise<{ rows: { id: string; wallet: string; failing_since: Date; is_long: boolean | null }[] }> {
  // The webhooks first: all that change both take them first.
  return sql<{ id: string; wallet: string; failing_since: Date; is_long: boolean | null }>`
    with held as (
      select id from webhooks where id = any (${released.map(({ id }) => id)}::uuid[]) order by id for no key update
    ), released as (
      update webhooks w set rests_until = now() + make_interval(secs => after.rest), failures = after.failures,
        failing_since = case when after.is_failing then coalesce(failing_since, now())
          when after.is_failing is null then failing_since end
      from held join unnest(${released.map(({ id }) => id)}::uuid[], ${released.map((row) => row.restS)}::float8[],
        ${released.map(({ failures }) => failures)}::int[], ${released.map((row) => row.isFailing ?? null)}::boolean[])
        as after (id, rest, failures, is_failing) on after.id = held.id
      where w.id = held.id
      returning w.id, wallet, failing_since, paused_at is null
        and failing_since <= now() - make_interval(days => ${WEBHOOK_TRIED_DAYS}) as is_long
    ), recorded as (
      update webhook_deliveries d
      set status = sent.status, attempts = sent.attempts, next_attempt_at = now() + make_interval(secs => sent.wait)
      from released, unnest(${sent.map(({ webhookId }) => webhookId)}::uuid[], ${sent.map(({ eventId }) => eventId)}::uuid[],
        ${sent.map(({ lease }) => lease)}::timestamptz[], ${sent.map(({ status }) => status)}::text[],
        ${sent.map(({ waitS }) => waitS)}::float8[], ${sent.map((row) => JSON.stringify(row.attempts))}::jsonb[])
        as sent (webhook_id, event_id, lease, status, wait, attempts)
      where released.id = sent.webhook_id and d.webhook_id = sent.webhook_id and d.event_id = sent.event_id
        and d.next_attempt_at = sent.lease
    )
    select id, wallet, failing_since, is_long from released`.execute(db);
}

/** Pending deliveries end. The wallet hears of it by its other webhooks. */
async function pauseWebhook(
  tx: Tx,
  { id, wallet }: Pick<SentWebhook, 'id' | 'wallet'>,
  failingSince: Date,
): Promise<void> {
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
