import { setMaxListeners } from 'node:events';
import type { Pool } from 'pg';
import type { Db } from '../../database/connection.js';
import type { Notifications } from '../../database/notifications.js';
import { startJobs } from '../../jobs/jobs.js';
import type { Logger } from '../../platform/logger.js';
import { deliverEvents, type DeliveryDeps } from './deliver.js';
import {
  DELIVERY_SWEEP_CRONTAB,
  DELIVERY_SWEEP_TASK,
  DELIVERY_TASK,
  enqueueDeliveries,
} from './enqueue-deliveries.js';

/** Jobs of a server at once. Each sends to some webhooks. */
const AT_ONCE = 16;
/** How often each looks for tasks for later, such as another attempt: 16 of them look about every 600 ms. */
const POLL_MS = 10_000;
/** Events of this time are enqueued together. */
const COLLECTED_MS = 100;

/** The parts of the delivery in a server. */
interface StartedWith extends Omit<DeliveryDeps, 'stopping'> {
  pool: Pool;
  logger: Logger;
  /** Tells of new events. */
  notices: Pick<Notifications, 'subscribe'>;
}

/** Starts to deliver events to webhooks, beside other servers. Stop breaks off requests that are under way: they are sent again. */
export async function startDeliveries({
  pool,
  logger,
  notices,
  ...deps
}: StartedWith): Promise<{ stop(): Promise<void> }> {
  const { db } = deps;
  const stopping = new AbortController();
  // Each request that is under way listens.
  setMaxListeners(0, stopping.signal);
  const sending = { ...deps, stopping: stopping.signal };
  const jobs = await startJobs(
    pool,
    {
      [DELIVERY_TASK]: (payload) =>
        deliverEvents(sending, (payload as { webhook_ids: string[] }).webhook_ids),
      [DELIVERY_SWEEP_TASK]: () => enqueueDeliveries(db, 'all'),
    },
    logger,
    { concurrency: AT_ONCE, pollMs: POLL_MS, crontab: DELIVERY_SWEEP_CRONTAB, hasQueues: false },
  );
  const waking = wakeOnEvents(db, notices, logger);
  // Of events whose notice was lost.
  await enqueueDeliveries(db, 'all');
  return {
    async stop() {
      await waking.stop();
      stopping.abort();
      await jobs.stop();
    },
  };
}

/** Enqueues the jobs of wallets that have events. A notice without a wallet is of many. */
function wakeOnEvents(
  db: Db,
  notices: Pick<Notifications, 'subscribe'>,
  logger: Pick<Logger, 'warn'>,
): { stop(): Promise<void> } {
  let wallets = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  let enqueueing: Promise<void> = Promise.resolve();
  let isStopped = false;
  const enqueue = () => {
    timer = undefined;
    const heard = wallets;
    wallets = new Set();
    enqueueing = enqueueDeliveries(db, heard.has('') ? 'all' : { wallets: [...heard] }).catch(
      (err: unknown) =>
        // The sweep finds them.
        logger.warn({ err }, 'events could not be enqueued for webhooks'),
    );
  };
  notices.subscribe((wallet) => {
    if (isStopped) return;
    wallets.add(wallet);
    timer ??= setTimeout(enqueue, COLLECTED_MS);
  });
  return {
    stop: () => {
      isStopped = true;
      clearTimeout(timer);
      return enqueueing;
    },
  };
}
