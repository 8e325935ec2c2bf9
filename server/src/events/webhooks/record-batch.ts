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
  eventId: string;
  eventAt: Date;
  /** The attempts before. */
  attempts: readonly WebhookAttempt[];
  /** Undefined where the server stopped it: it is sent again at once. */
  attempt: WebhookAttempt | undefined;
  /** As it was claimed. A delivery with another time is another server's, or was asked for again. */
  lease: Date;
}

/** Writes down what came of deliveries that were sent together, and what it says about their webhook. */
export async function recordBatch(db: Db, webhook: SentWebhook, batch: readonly Ended[]): Promise<void> {
  const attempts = batch.flatMap(({ attempt }) => attempt ?? []);
  await db.transaction().execute(async (tx) => {
    // The webhook first: all that change both take it first.
    const isPaused = attempts.length > 0 && (await noteHealth(tx, webhook, attempts));
    await recordDeliveries(tx, webhook, batch);
    if (isPaused) {
      await tx
        .updateTable('webhook_deliveries')
        .set({ status: 'failed' })
        .where('webhook_id', '=', webhook.id)
        .where('status', '=', 'pending')
        .execute();
    }
  });
}

async function recordDeliveries(tx: Tx, { id }: SentWebhook, batch: readonly Ended[]): Promise<void> {
  const rows = batch.map(({ eventId, eventAt, lease, attempts, attempt }) => {
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

/**
 * Notes whether the address works: a success ends its rest, and a batch with failures alone makes it rest. After days without
 * a success it is paused. @returns whether it was paused now
 */
async function noteHealth(
  tx: Tx,
  { id, wallet, url, failures }: SentWebhook,
  attempts: readonly WebhookAttempt[],
): Promise<boolean> {
  const isFailing = attempts.every(({ reason }) => reason !== undefined);
  if (!isFailing) {
    await tx
      .updateTable('webhooks')
      .set({ failures: 0, failing_since: null, rests_until: sql<Date>`now()` })
      .where('id', '=', id)
      .where((eb) => eb.or([eb('failures', '>', 0), eb('failing_since', 'is not', null)]))
      .execute();
    return false;
  }
  if (url === null) {
    // Its addresses are of many, so none of them makes it rest. Its job comes after those of working webhooks.
    await tx
      .updateTable('webhooks')
      .set({ failures: 1 })
      .where('id', '=', id)
      .where('failures', '=', 0)
      .execute();
    return false;
  }
  // Failures that lie a day apart are of two outages: in between, there was nothing to send.
  const { rows } = await sql<{ failing_since: Date; is_long: boolean }>`
    update webhooks set failures = failures + 1, rests_until = now() + make_interval(secs => ${restS(failures + 1)}),
      failing_since = case when rests_until < now() - interval '1 day' then now() else coalesce(failing_since, now()) end
    where id = ${id}::uuid and paused_at is null
    returning failing_since, failing_since <= now() - make_interval(days => ${WEBHOOK_TRIED_DAYS}) as is_long`.execute(
    tx,
  );
  const [failing] = rows;
  if (!failing?.is_long) return false;
  await tx
    .updateTable('webhooks')
    .set({ paused_at: sql<Date>`now()` })
    .where('id', '=', id)
    .execute();
  await appendEvent(tx, {
    wallet,
    name: 'webhook.paused',
    subject: `webhook:${id}`,
    data: { webhook_id: id, failing_since: failing.failing_since.toISOString() },
  });
  return true;
}
