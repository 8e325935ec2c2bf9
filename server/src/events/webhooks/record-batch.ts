import { WEBHOOK_TRIED_DAYS, type WebhookAttempt } from '@agent-rental/contract';
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
  /** As it was claimed. A delivery with another time is another server's, or was asked for again. */
  lease: Date;
}

/**
 * Records the results of deliveries that were sent together. The webhook may be sent to again: at once after a success,
 * and after a rest where all failed. One that has failed for days is paused.
 */
export async function recordBatch(db: Db, webhook: SentWebhook, batch: readonly Ended[]): Promise<void> {
  await db.transaction().execute(async (tx) => {
    // The webhook first: all that change both take it first.
    const failing = await releaseWebhook(
      tx,
      webhook,
      batch.flatMap(({ attempt }) => attempt ?? []),
    );
    if (batch.length > 0) await recordDeliveries(tx, webhook, batch);
    if (failing?.is_long === true) await pauseWebhook(tx, webhook, failing.failing_since);
  });
}

async function recordDeliveries(tx: Tx, { id }: SentWebhook, batch: readonly Ended[]): Promise<void> {
  const rows = batch.map(({ id: eventId, created_at: eventAt, lease, attempts, attempt }) => {
    if (attempt === undefined) return { eventId, lease, status: 'pending', waitS: 0, attempts };
    const all = [...attempts, attempt];
    return { eventId, lease, ...afterAttempt(all, eventAt), attempts: all.slice(-ATTEMPTS_KEPT) };
  });
  await sql`
    update webhook_deliveries d
    set status = sent.status, attempts = sent.attempts, next_attempt_at = now() + make_interval(secs => sent.wait)
    from unnest(${rows.map(({ eventId }) => eventId)}::uuid[], ${rows.map(({ lease }) => lease)}::timestamptz[],
      ${rows.map(({ status }) => status)}::text[], ${rows.map(({ waitS }) => waitS)}::float8[],
      ${rows.map((row) => JSON.stringify(row.attempts))}::jsonb[]) as sent (event_id, lease, status, wait, attempts)
    where d.webhook_id = ${id}::uuid and d.event_id = sent.event_id and d.next_attempt_at = sent.lease`.execute(
    tx,
  );
}

/** Notes whether the webhook works. @returns since when it fails, and whether for days; undefined where it works */
async function releaseWebhook(
  tx: Tx,
  { id, url, failures }: SentWebhook,
  attempts: readonly WebhookAttempt[],
): Promise<{ failing_since: Date; is_long: boolean } | undefined> {
  const isFailing = attempts.length > 0 && attempts.every(({ reason }) => reason !== undefined);
  if (isFailing && url !== null) {
    const { rows } = await sql<{ failing_since: Date; is_long: boolean }>`
      update webhooks set failures = failures + 1, failing_since = coalesce(failing_since, now()),
        rests_until = now() + make_interval(secs => ${restS(failures + 1)})
      where id = ${id}::uuid and paused_at is null
      returning failing_since, failing_since <= now() - make_interval(days => ${WEBHOOK_TRIED_DAYS}) as is_long`.execute(
      tx,
    );
    return rows[0];
  }
  const hasWorked = attempts.length > 0 && !isFailing;
  await tx
    .updateTable('webhooks')
    .set({
      rests_until: sql<Date>`now()`,
      ...(hasWorked ? { failures: 0, failing_since: null } : {}),
      // Callbacks go to many addresses, so none makes the others rest. Their job comes after the working webhooks.
      ...(isFailing ? { failures: 1 } : {}),
    })
    .where('id', '=', id)
    .execute();
  return undefined;
}

/** What waits for it ends; its wallet hears of it by its other webhooks. */
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
