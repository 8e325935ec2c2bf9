import type { Db } from '../database/connection.js';
import type { Leadership } from '../database/leadership.js';
import type { Notifications } from '../database/notifications.js';
import {
  EMAIL_TASK,
  removeOldConfirmations,
  removeOldEvents,
  startDeliveries,
  tellEndingRentals,
} from '../events/index.js';
import { removeEndedApps } from '../identity/index.js';
import { startFolding } from '../listings/index.js';
import { enqueueTask, freeAbandonedTasks, startJobs } from '../jobs/jobs.js';
import type { Metrics } from '../operations/index.js';
import type { OutboundHttp } from '../platform/outbound-http.js';
import { startRounds, type Rounds } from '../platform/rounds.js';
import { RECONCILIATION_CRONTAB, RECONCILIATION_TASK, reconcileWithChain } from '../reconciliation/index.js';
import {
  endReplacedSecrets,
  endVersionSupport,
  EXPIRING_SECRET_TASK,
  HEALTH_CRONTAB,
  HEALTH_ROUND_TASK,
  HEALTH_TASK,
  LAPSE_CRONTAB,
  LAPSE_TASK,
  PROBE_TASK,
  REGISTRATION_TASK,
  removeOldProbeRequests,
  removeOldSampleRuns,
  REPLACED_SECRETS_TASK,
  tellExpiringSecret,
  SAMPLES_TASK,
} from '../registration/index.js';
import { removeReportAddresses } from '../moderation/index.js';
import { removeEndedKeys } from '../service-keys/index.js';
import { removeOldApprovals, removeOldSpends } from '../spending/index.js';
import {
  EXPIRY_CRONTAB,
  EXPIRY_TASK,
  removeExpired,
  removeOldSpending,
  removeOldStats,
} from '../runs/index.js';
import { removeFailedPayments, type Settler, type UsdcTill } from '../pay-per-call/index.js';
import type { AppParts } from './app-parts.js';
import type { Email } from './email.js';
import type { ListingsAndFiles } from './listings-and-files.js';
import type { Registration } from './registration.js';
import { INTERRUPTED_CHECK_MS, type RunRecords } from './runs/run-records.js';
import type { RunLogPart } from './runs/run-log.js';
import type { Protocol } from './chain/protocol.js';
import type { SettlementPart } from './settlement.js';

/** Each occupies a sandbox for up to a minute. */
const SAMPLE_RUNS_AT_ONCE = 4;
/** Each waits for an answer from outside for some seconds, and does little else. */
const PROBES_AT_ONCE = 8;

/** The tasks that people wait for, and nightly runs in the same queues. Each ends within minutes, and may run twice. */
const AWAITED_TASKS = [REGISTRATION_TASK, SAMPLES_TASK, PROBE_TASK, HEALTH_TASK, EMAIL_TASK];
/** One of them waits for notices of jobs. */
const DELIVERY_CONNECTIONS = 5;
/** After so long a task is taken for one of a process that was killed. */
const ABANDONED_MS = 10 * 60_000;
const ABANDONED_CHECK_MS = 60_000;

/** The leader tells at most this often that the index is level with the chain. */
const LEVEL_TOLD_MS = 1_000;
/** How long a starting replica waits for the leader's word that the index is level; then it reads the chain itself. */
const LEVEL_AWAITED_MS = 10_000;

/** Work that goes on without a request. */
export interface Background {
  /** Starts no more work; `stop` ends the running work. */
  pause(): void;
  stop(): Promise<void>;
}

/** The parts that work without a request. */
interface BackgroundParts {
  leadership: Leadership;
  listingsAndFiles: ListingsAndFiles;
  registration: Registration;
  settlement: SettlementPart;
  /** Follows payments of calls. */
  settler: Settler;
  /** Absent where calls are paid for in SOL alone. */
  usdcTill: UsdcTill | undefined;
  runLog: RunLogPart;
  records: RunRecords;
  protocol: Protocol;
  outbound: OutboundHttp;
  /** Tells of new events. */
  eventNotices: Notifications;
  metrics: Pick<Metrics, 'eventSent'>;
  email: Email;
}

/**
 * Starts the background work. Any replica runs jobs, watches lamports and folds counts. The leader alone runs the indexer,
 * the reconciler, the run log and the search for interrupted runs.
 */
export async function startBackground(appParts: AppParts, parts: BackgroundParts): Promise<Background> {
  const { database, logger, chain, history, keys } = appParts;
  const { leadership } = parts;
  const { indexer } = parts.listingsAndFiles;
  const { registration, removal, samples, prober, health } = parts.registration;
  const { reconciler, states } = parts.settlement;
  const { funds } = parts.protocol;
  const { db, pool } = database;
  const stopping = new AbortController();
  if (appParts.alone) await freeAbandonedTasks(db, AWAITED_TASKS, 0);
  const jobs = await startJobs(
    pool,
    {
      [REGISTRATION_TASK]: async (payload) => registration.validate((payload as { job_id: string }).job_id),
      [EXPIRY_TASK]: async () => {
        await removeExpired(db);
        await removeFailedPayments(db);
        await removeOldSpends(db);
        await removeOldApprovals(db);
        await removeEndedApps(db);
        await removeOldSampleRuns(db);
        await removeOldStats(db);
        await removeOldSpending(db);
        await removeOldProbeRequests(db);
        await removeReportAddresses(db);
        await removeEndedKeys(db);
        await tellEndingRentals(db);
        await removeOldEvents(db);
        await removeOldConfirmations(db);
      },
      [LAPSE_TASK]: async () => {
        await removal.removeLapsed();
        await endVersionSupport(db);
      },
      [REPLACED_SECRETS_TASK]: (payload) =>
        endReplacedSecrets(db, keys, (payload as { listing_id: string }).listing_id),
      [EXPIRING_SECRET_TASK]: (payload) =>
        tellExpiringSecret(db, keys, payload as { listing_id: string; expires_at: string }),
      [HEALTH_ROUND_TASK]: () => health.queueDue(),
      [RECONCILIATION_TASK]: async () => {
        const { signal } = stopping;
        await reconcileWithChain({ chain, history, indexer, states, db, logger }, { signal }).catch(
          (error: unknown) => {
            // The next start begins with it.
            if (!signal.aborted) throw error;
          },
        );
      },
    },
    logger,
    { crontab: [EXPIRY_CRONTAB, LAPSE_CRONTAB, HEALTH_CRONTAB, RECONCILIATION_CRONTAB].join('\n') },
  );
  // In a separate queue, because a sample run may take a minute and must not delay a registration.
  const sampleJobs = await startJobs(
    pool,
    {
      [SAMPLES_TASK]: (payload) => samples.take((payload as { listing_id: string }).listing_id),
      [HEALTH_TASK]: (payload) => health.check((payload as { listing_id: string }).listing_id),
    },
    logger,
    { concurrency: SAMPLE_RUNS_AT_ONCE },
  );
  const probeJobs = await startJobs(
    pool,
    { [PROBE_TASK]: async (payload) => prober.probe((payload as { listing_id: string }).listing_id) },
    logger,
    { concurrency: PROBES_AT_ONCE },
  );
  // A delivery that is lost is made again: deliveries leave the connections and the disk to runs.
  const deliveryDatabase = database.openForRepeatableWork(DELIVERY_CONNECTIONS);
  const deliveries = await startDeliveries({
    ...deliveryDatabase,
    keys,
    logger,
    outbound: parts.outbound,
    notices: parts.eventNotices,
    onSent: parts.metrics.eventSent,
  });
  const emailJobs = await parts.email.start();
  const isLevel = new Promise<boolean>((resolve) =>
    leadership.subscribe((news) => {
      // The leader measures this itself, more exactly.
      if (!leadership.isLeader()) indexer.heardLevel(Number(news));
      resolve(true);
    }),
  );
  if (leadership.isLeader() || !(await within(LEVEL_AWAITED_MS, isLevel))) {
    await indexer.catchUp();
    await reconciler.reconcile('all');
  }
  await enqueueTask(db, RECONCILIATION_TASK, {}, { key: RECONCILIATION_TASK, maxAttempts: 2 });
  leadership.lead(() => startLeading(parts, { db, logger, pausing: stopping.signal }));
  await parts.usdcTill?.prepare();
  const watching = [funds.start(), ...(parts.usdcTill ? [parts.usdcTill.start()] : [])];
  const folding = startFolding(db, logger);
  const counting = parts.records.noted.start();
  const ending = parts.records.unrecordedEnds.start();
  return {
    pause: () => stopping.abort(),
    async stop() {
      await Promise.all([
        leadership.close(),
        ...watching.map((rounds) => rounds.stop()),
        folding.stop(),
        counting.stop(),
        ending.stop(),
        jobs.stop(),
        sampleJobs.stop(),
        probeJobs.stop(),
        deliveries.stop().then(() => deliveryDatabase.close()),
        emailJobs?.stop(),
      ]);
    },
  };
}

/** The work that one replica does for all. */
function startLeading(
  { leadership, listingsAndFiles, settlement, settler, runLog, records }: BackgroundParts,
  { db, logger, pausing }: { db: Db; logger: AppParts['logger']; pausing: AbortSignal },
): Rounds {
  const { indexer } = listingsAndFiles;
  let toldAt = Number.NEGATIVE_INFINITY;
  const tellLevel = async () => {
    const now = performance.now();
    if (now - toldAt < LEVEL_TOLD_MS) return;
    toldAt = now;
    await leadership.tell(String(indexer.ageSeconds()));
  };
  const markInterrupted = async () => {
    if (pausing.aborted) return;
    await records.runs
      .markInterrupted(INTERRUPTED_CHECK_MS)
      .catch((err: unknown) => logger.warn({ err }, 'the search for interrupted runs failed'));
  };
  const freeAbandoned = () =>
    freeAbandonedTasks(db, AWAITED_TASKS, ABANDONED_MS).catch((err: unknown) =>
      logger.warn({ err }, 'the search for abandoned tasks failed'),
    );
  const all = [
    startRounds(freeAbandoned, ABANDONED_CHECK_MS, { startsAtOnce: true }),
    indexer.start(tellLevel),
    settlement.reconciler.start('all'),
    settler.start(),
    runLog.publisher.start(),
    startRounds(markInterrupted, INTERRUPTED_CHECK_MS, { startsAtOnce: false }),
  ];
  return {
    async stop() {
      await Promise.all(all.map((rounds) => rounds.stop()));
    },
  };
}

/** Resolves with false when `awaited` takes longer than `ms`. */
async function within(ms: number, awaited: Promise<boolean>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => (timer = setTimeout(resolve, ms, false)));
  const isInTime = await Promise.race([awaited, late]);
  clearTimeout(timer);
  return isInTime;
}
