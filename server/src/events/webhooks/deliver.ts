import type { WebhookAttempt, WebhookDelivery } from '@agent-rental/contract';
import { sql } from 'kysely';
import type { Db } from '../../database/connection.js';
import type { Keys } from '../../platform/keys.js';
import { toWalletEvent, type EventRow } from '../read-events.js';
import { enqueueDeliveries } from './enqueue-deliveries.js';
import { recordBatch, type Ended, type SentWebhook } from './record-batch.js';
import { signingSecrets } from './secrets.js';
import { sendEvent, type Sending } from './send-event.js';

/** Deliveries that are sent at once. */
const BATCH = 10;
/** A server sends a batch within this time. After it another server may. */
const LEASE_MS = 30_000;
/** After this time the job leaves its place to other webhooks, and comes again. */
const TURN_MS = 2_000;

/** The parts of the delivery. */
export interface DeliveryDeps extends Sending {
  db: Db;
  keys: Keys;
  /** Hears of the state of a delivery after each request. */
  onSent?: ((state: WebhookDelivery['status']) => void) | undefined;
}

/** A delivery that this server may send until its lease ends. */
type Claimed = EventRow & { callback_url: string | null; attempts: WebhookAttempt[]; lease: Date };

/**
 * Sends the due deliveries of a webhook, in batches. An address that fails rests, and then gets one delivery until it
 * takes one. Callbacks go to many addresses: none makes the others rest, and the slowest ends its batch of ten.
 */
export async function deliverEvents(deps: DeliveryDeps, webhookId: string): Promise<void> {
  const { db, keys, stopping } = deps;
  const turnEnds = performance.now() + TURN_MS;
  let mayBeMore = true;
  while (mayBeMore && performance.now() < turnEnds && !stopping.aborted) {
    const { webhook, claimed, isFull } = await take(db, webhookId);
    if (!webhook) break;
    mayBeMore = isFull;
    const secrets = signingSecrets(keys, { id: webhookId, sealed: webhook.sealed_secrets });
    const send = async (delivery: Claimed): Promise<Ended> => {
      const url = delivery.callback_url ?? webhook.url ?? '';
      const attempt = await sendEvent({ url, event: toWalletEvent(delivery), secrets }, deps);
      return { ...delivery, attempt };
    };
    const states = await recordBatch(db, webhook, await Promise.all(claimed.map(send)));
    for (const state of states) deps.onSent?.(state);
  }
  await enqueueDeliveries(db, { webhookId });
}

/** A webhook that this server may send to until its lease ends. */
type Taken = SentWebhook & { sealed_secrets: Buffer; most: number };
/** The same with one of the deliveries that this server took, or with none. */
type TakenRow = { webhook: Omit<Taken, 'sealed_secrets'> & { sealed_secrets: string } } & (
  | Claimed
  | { [K in keyof Claimed]: null }
);

/**
 * Takes a webhook for this server alone, if it may be sent to now: it rests for others. Takes due deliveries with it, the
 * earliest first. A failure of long ago is forgotten.
 */
async function take(
  db: Db,
  id: string,
): Promise<{ webhook: Taken | undefined; claimed: Claimed[]; isFull: boolean }> {
  // In one statement, which a busy market repeats for each event. Within a day without a failure there was nothing to send:
  // the next failure is of another outage. The lease is in milliseconds, as a date of JavaScript has it: it is compared later.
  const { rows } = await sql<TakenRow>`
    with taken as (
      update webhooks set rests_until = now() + ${LEASE},
        failing_since = case when rests_until >= now() - interval '1 day' then failing_since end
      where id = ${id}::uuid and paused_at is null and rests_until <= now()
      returning id, wallet, url, failures, sealed_secrets,
        case when url is not null and failures > 0 then 1 else ${BATCH} end as most
    ), due as materialized (
      select event_id from webhook_deliveries
      where webhook_id = ${id}::uuid and status = 'pending' and next_attempt_at <= now() and exists (select from taken)
      order by next_attempt_at limit (select most from taken) for update skip locked
    ), claimed as (
      update webhook_deliveries d set next_attempt_at = date_trunc('milliseconds', now() + ${LEASE})
      from due join events e on e.id = due.event_id
      where d.webhook_id = ${id}::uuid and d.event_id = due.event_id
      returning e.id, e.name, e.subject, e.sequence, e.data, e.created_at, d.callback_url, d.attempts,
        d.next_attempt_at as lease
    )
    select json_build_object('id', taken.id, 'wallet', wallet, 'url', url, 'failures', failures, 'most', most,
      'sealed_secrets', encode(sealed_secrets, 'base64')) as webhook, claimed.*
    from taken left join claimed on true`.execute(db);
  const [first] = rows;
  if (!first) return { webhook: undefined, claimed: [], isFull: false };
  const webhook = { ...first.webhook, sealed_secrets: Buffer.from(first.webhook.sealed_secrets, 'base64') };
  const claimed = rows.filter((row): row is TakenRow & Claimed => row.lease !== null);
  return { webhook, claimed, isFull: claimed.length === webhook.most };
}

const LEASE = sql`make_interval(secs => ${LEASE_MS / 1_000})`;
