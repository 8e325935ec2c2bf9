import { sql, type RawBuilder } from 'kysely';
import type { Db } from '../../database/connection.js';

/** Name of the job that delivers the events of some webhooks, and of the search for webhooks whose job was lost (each minute). */
export const DELIVERY_TASK = 'deliver_webhook';
export const DELIVERY_SWEEP_TASK = 'sweep_webhooks';
export const DELIVERY_SWEEP_CRONTAB = `* * * * * ${DELIVERY_SWEEP_TASK}`;

/** Webhooks that have a job together. */
const TOGETHER = 20;

/** Whose events are to be delivered. */
type Whose = { wallets: readonly string[] } | { webhookIds: readonly string[] } | 'all';

/**
 * Puts jobs for webhooks with a waiting delivery into the queue. Webhooks that are due have one together, at most 20. Each other
 * has one for the time at which it is due. Wallets get jobs for due deliveries alone: a server that sends to a webhook
 * enqueues it again when it ends. For all, a minute is looked ahead, because a killed server leaves some taken. Webhooks that
 * fail come after the others.
 */
export async function enqueueDeliveries(db: Db, whose: Whose): Promise<void> {
  const within =
    whose === 'all'
      ? sql`interval '1 minute'`
      : 'wallets' in whose
        ? sql`interval '0'`
        : sql`interval 'infinity'`;
  // Without a queue of graphile-worker: each look for a task locks all of them. All jobs in one call, because each call wakes
  // the workers of all tasks. A webhook that another job takes first is not free for the second.
  await sql`
    select (select count(*) from graphile_worker.add_jobs(jobs)) from (
    select array_agg((${DELIVERY_TASK}, json_build_object('webhook_ids', ids), null, due_at, null, job_key, priority, null)
      ::graphile_worker.job_spec) as jobs
    from (
      select json_agg(id) as ids, min(due_at) as due_at, priority,
        case when place is null then 'webhook:' || min(id::text) end as job_key
      from (
        select id, due_at, priority,
          case when due_at <= now() then (row_number() over (partition by due_at <= now(), priority) - 1) / ${TOGETHER} end as place
        from (
          select first.id, greatest(first.next_attempt_at, w.rests_until) as due_at,
            case when w.failures > 0 then 1 else 0 end as priority
          from (${firstOf(whose)}) first cross join lateral (
            -- One by one: PostgreSQL takes the recursion for long, and would read all webhooks.
            select rests_until, failures from webhooks where id = first.id and paused_at is null limit 1) w
        ) waiting where due_at <= now() + ${within}
      ) placed group by priority, place, case when place is null then id end
    ) together having count(*) > 0) enqueued`.execute(db);
}

/** The first delivery of each webhook that waits. */
function firstOf(whose: Whose): RawBuilder<unknown> {
  if (whose === 'all') return FIRST_OF_ALL;
  const condition =
    'wallets' in whose
      ? sql`wallet = any (${whose.wallets}::text[])`
      : sql`id = any (${whose.webhookIds}::uuid[])`;
  return sql`
    select hooks.id, first.next_attempt_at from (select id from webhooks where ${condition}) hooks cross join lateral (
      select next_attempt_at from webhook_deliveries where webhook_id = hooks.id and status = 'pending'
      order by next_attempt_at limit 1) first`;
}

/** Goes from webhook to webhook in the index: it reads neither webhooks nor deliveries that do not wait. */
const FIRST_OF_ALL = sql`
  with recursive found as (
    (select webhook_id as id, next_attempt_at from webhook_deliveries where status = 'pending'
      order by webhook_id, next_attempt_at limit 1)
    union all
    select further.* from found cross join lateral (
      select webhook_id, next_attempt_at from webhook_deliveries where status = 'pending' and webhook_id > found.id
      order by webhook_id, next_attempt_at limit 1) further
  ) select * from found`;
