import { sql } from 'kysely';
import type { Db } from '../../database/connection.js';

/** Name of the job that delivers the events of one webhook, and of the search for webhooks whose job was lost (each minute). */
export const DELIVERY_TASK = 'deliver_webhook';
export const DELIVERY_SWEEP_TASK = 'sweep_webhooks';
export const DELIVERY_SWEEP_CRONTAB = `* * * * * ${DELIVERY_SWEEP_TASK}`;

/** Whose events are to be delivered. */
type Whose = { wallets: readonly string[] } | { webhookId: string } | 'all';

/** The first delivery of each webhook that waits. */
const firstOf = (condition: ReturnType<typeof sql>) => sql`
  select w.id, first.next_attempt_at from webhooks w cross join lateral (
    select next_attempt_at from webhook_deliveries d where d.webhook_id = w.id and status = 'pending'
    order by next_attempt_at limit 1
  ) first where ${condition}`;
/** Goes from webhook to webhook in the index: it reads neither webhooks nor deliveries that do not wait. */
const FIRST_OF_ALL = sql`
  with recursive found as (
    (select webhook_id as id, next_attempt_at from webhook_deliveries where status = 'pending'
      order by webhook_id, next_attempt_at limit 1)
    union all
    select further.* from found cross join lateral (
      select webhook_id, next_attempt_at from webhook_deliveries where status = 'pending' and webhook_id > found.id
      order by webhook_id, next_attempt_at limit 1) further
  ) select * from found where next_attempt_at <= now()`;

/**
 * Puts the job of each webhook with a waiting delivery into the queue, for the time at which it is due. The webhooks that
 * fail come after the others. Of all webhooks, those that are due.
 *
 * @param how `keep`: a job that waits already keeps its time, which another statement may have made earlier meanwhile
 */
export async function enqueueDeliveries(
  db: Db,
  whose: Whose,
  how: 'replace' | 'keep' = 'replace',
): Promise<void> {
  const first =
    whose === 'all'
      ? FIRST_OF_ALL
      : firstOf(
          'wallets' in whose
            ? sql`w.wallet = any (${whose.wallets}::text[])`
            : sql`w.id = ${whose.webhookId}::uuid`,
        );
  await sql`
    select graphile_worker.add_job(${DELIVERY_TASK}, json_build_object('webhook_id', w.id), queue_name := 'webhook:' || w.id,
      job_key := 'webhook:' || w.id, job_key_mode := ${how === 'keep' ? 'preserve_run_at' : 'replace'},
      run_at := greatest(first.next_attempt_at, w.rests_until),
      priority := case when w.failures > 0 then 1 else 0 end)
    from (${first}) first join webhooks w on w.id = first.id
    where w.paused_at is null
      and (${whose !== 'all'} or w.rests_until <= now())`.execute(db);
}
