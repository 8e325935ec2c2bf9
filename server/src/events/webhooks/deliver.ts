import { setTimeout as delay } from 'node:timers/promises';
import type { WebhookAttempt, WebhookDelivery } from '@agent-rental/contract';
import { sql } from 'kysely';
import type { Db } from '../../database/connection.js';
import type { Keys } from '../../platform/keys.js';
import { toWalletEvent, type EventRow } from '../read-events.js';
import { enqueueDeliveries } from './enqueue-deliveries.js';
import { recordBatches, type Batch, type Ended, type SentWebhook } from './record-batches.js';
import { signingSecrets } from './secrets.js';
import { openPush } from './push-configs.js';
import { sendEvent, type Sending } from './send-event.js';

/** Deliveries of a webhook that are sent at once. */
const BATCH = 10;
/** A server sends a batch within this time. After it another server may. */
const LEASE_MS = 30_000;
/** Batches that end within this time are recorded together. */
const RECORDED_TOGETHER_MS = 25;

/** The parts of the delivery. */
export interface DeliveryDeps extends Sending {
  db: Db;
  keys: Keys;
  /** Hears of the state of a delivery after each request. */
  onSent?: ((state: WebhookDelivery['status']) => void) | undefined;
}

/**
 * Sends a batch of due deliveries to each of these webhooks, and enqueues each again that has more. A slow address delays
 * no other: batches are recorded as they end. An address that fails rests, and then gets one delivery until it takes one.
 * Callbacks go to many addresses: none makes the others rest, and the slowest ends its batch of ten.
 */
export async function deliverEvents(deps: DeliveryDeps, webhookIds: readonly string[]): Promise<void> {
  const { db, keys } = deps;
  let ended: Batch[] = [];
  let recording: Promise<void> | undefined;
  const record = async (): Promise<void> => {
    await delay(RECORDED_TOGETHER_MS);
    const together = ended;
    ended = [];
    recording = undefined;
    for (const state of await recordBatches(db, together)) deps.onSent?.(state);
    await enqueueDeliveries(db, { webhookIds: together.map(({ webhook }) => webhook.id) });
  };
  const send = async ({ webhook, claimed }: Taken): Promise<void> => {
    const secrets = signingSecrets(keys, { id: webhook.id, sealed: webhook.sealed_secrets });
    const sending = claimed.map(async (delivery): Promise<Ended> => {
      const url = delivery.callback_url ?? webhook.url ?? '';
      const event = toWalletEvent(delivery);
      const attempt = await sendEvent({ url, event, secrets, ...pushOf(keys, delivery) }, deps);
      return { ...delivery, attempt };
    });
    const sent = await Promise.all(sending);
    ended.push({ webhook, sent });
    await (recording ??= record());
  };
  const results = await Promise.allSettled((await take(db, webhookIds)).map(send));
  const failed = results.find(({ status }) => status === 'rejected');
  if (failed?.status === 'rejected') throw failed.reason;
}

/** A delivery that this server may send until its lease ends. */
type Claimed = EventRow & {
  callback_url: string | null;
  /** Of a callback in the form of another protocol. */
  sealed_push: Buffer | null;
  was_stopped: boolean;
  attempts: WebhookAttempt[];
  lease: Date;
};

/** The request of a callback in the form of another protocol. */
function pushOf(keys: Keys, { sealed_push: sealed, was_stopped, name, data }: Claimed) {
  if (sealed === null || !('run_id' in data)) return {};
  const { headers, bodies } = openPush(keys, data.run_id, sealed);
  const failed = was_stopped ? bodies.canceled : bodies.failed;
  return { request: { headers, body: name === 'run.completed' ? bodies.completed : failed } };
}

/** A webhook that this server may send to until its lease ends, with the deliveries that this server took. */
interface Taken {
  webhook: SentWebhook & { sealed_secrets: Buffer };
  claimed: Claimed[];
}

/** A webhook with one of its deliveries, or with none. */
type TakenRow = { webhook_id: string; wallet: string; url: string | null; failures: number } & {
  sealed_secrets: Buffer;
} & (Claimed | { [K in keyof Claimed]: null });

/**
 * Takes webhooks for this server alone, if they may be sent to now: they rest for others. Takes due deliveries with them,
 * the earliest first. A failure of long ago is forgotten.
 */
async function take(db: Db, webhookIds: readonly string[]): Promise<Taken[]> {
  // In one statement, which a busy market repeats often. Webhooks are locked in the order of their ids, here and where they
  // are released. Within a day without a failure there was nothing to send: the next failure is of another outage. The lease
  // is in milliseconds, as a date of JavaScript has it: it is compared later.
  const { rows } = await sql<TakenRow>`
    with free as (
      select id from webhooks where id = any (${webhookIds}::uuid[]) and paused_at is null and rests_until <= now()
      order by id for no key update
    ), taken as (
      update webhooks w set rests_until = now() + ${LEASE},
        failing_since = case when rests_until >= now() - interval '1 day' then failing_since end
      from free where w.id = free.id
      returning w.id as webhook_id, wallet, url, failures, sealed_secrets,
        case when url is not null and failures > 0 then 1 else ${BATCH} end as most
    ), due as materialized (
      select webhook_id, event_id from taken cross join lateral (
        select event_id from webhook_deliveries d
        where d.webhook_id = taken.webhook_id and status = 'pending' and next_attempt_at <= now()
        order by next_attempt_at limit taken.most for update skip locked) earliest
    ), claimed as (
      update webhook_deliveries d set next_attempt_at = date_trunc('milliseconds', now() + ${LEASE})
      from due join events e on e.id = due.event_id
        left join run_callbacks c on e.name like 'run.%' and c.run_id = (e.data ->> 'run_id')::uuid
        left join runs r on r.id = c.run_id and c.sealed_push is not null
      where d.webhook_id = due.webhook_id and d.event_id = due.event_id
      returning d.webhook_id, e.id, e.name, e.subject, e.sequence, e.data, e.created_at, d.callback_url, d.attempts,
        case when d.callback_url is not null then c.sealed_push end as sealed_push,
        r.stop_reason is not null as was_stopped, d.next_attempt_at as lease
    )
    select taken.webhook_id, wallet, url, failures, sealed_secrets,
      id, name, subject, sequence, data, created_at, callback_url, sealed_push, was_stopped, attempts, lease
    from taken left join claimed on claimed.webhook_id = taken.webhook_id`.execute(db);
  const taken = new Map<string, Taken>();
  for (const { webhook_id: id, wallet, url, failures, sealed_secrets, ...row } of rows) {
    const one = taken.get(id) ?? { webhook: { id, wallet, url, failures, sealed_secrets }, claimed: [] };
    if (row.lease !== null) one.claimed.push(row);
    taken.set(id, one);
  }
  return [...taken.values()];
}

const LEASE = sql`make_interval(secs => ${LEASE_MS / 1_000})`;
