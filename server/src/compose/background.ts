import { removeOldSpends } from '../identity/index.js';
import { startFolding } from '../listings/index.js';
import { enqueueTask, startJobs } from '../platform/jobs.js';
import { RECONCILIATION_CRONTAB, RECONCILIATION_TASK, reconcileWithChain } from '../reconciliation/index.js';
import {
  LAPSE_CRONTAB,
  LAPSE_TASK,
  REGISTRATION_TASK,
  removeOldSampleRuns,
  SAMPLES_TASK,
} from '../registration/index.js';
import { EXPIRY_CRONTAB, EXPIRY_TASK, removeExpired } from '../runs/index.js';
import { dropFinalWires } from '../settlement/index.js';
import type { AppParts } from './app-parts.js';
import type { Catalogue } from './catalogue.js';
import type { Registration } from './registration.js';
import { INTERRUPTED_CHECK_MS, type RunRecords } from './run-records.js';
import type { RunLogPart } from './run-log.js';
import type { Protocol } from './protocol.js';
import type { SettlementPart } from './settlement.js';

/** Each occupies a sandbox for up to a minute. */
const SAMPLE_RUNS_AT_ONCE = 4;

/** Work that goes on without a request. */
export interface Background {
  /** Starts no more work; `stop` ends what works. */
  pause(): void;
  stop(): Promise<void>;
}

/** Starts the jobs, the indexer, the reconciler, the run log, the watch of lamports, the folding of counts and the search for interrupted runs. */
export async function startBackground(
  { database, logger, chain, history }: AppParts,
  parts: {
    catalogue: Catalogue;
    registration: Registration;
    settlement: SettlementPart;
    runLog: RunLogPart;
    records: RunRecords;
    protocol: Protocol;
  },
): Promise<Background> {
  const { indexer } = parts.catalogue;
  const { registration, removal, samples } = parts.registration;
  const { reconciler, states } = parts.settlement;
  const { runs } = parts.records;
  const { funds } = parts.protocol;
  const { db, pool } = database;
  const stopping = new AbortController();
  const jobs = await startJobs(
    pool,
    {
      [REGISTRATION_TASK]: async (payload) => registration.validate((payload as { job_id: string }).job_id),
      [EXPIRY_TASK]: async () => {
        await removeExpired(db);
        await removeOldSpends(db);
        await removeOldSampleRuns(db);
        await dropFinalWires(db);
      },
      [LAPSE_TASK]: () => removal.removeLapsed(),
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
    { crontab: [EXPIRY_CRONTAB, LAPSE_CRONTAB, RECONCILIATION_CRONTAB].join('\n') },
  );
  // In a queue of its own: a sample run may take a minute, and no registration waits for it.
  const sampleJobs = await startJobs(
    pool,
    { [SAMPLES_TASK]: async (payload) => samples.take((payload as { listing_id: string }).listing_id) },
    logger,
    { concurrency: SAMPLE_RUNS_AT_ONCE },
  );
  await indexer.catchUp();
  await reconciler.reconcile('all');
  await enqueueTask(db, RECONCILIATION_TASK, {}, { key: RECONCILIATION_TASK, maxAttempts: 2 });
  const following = indexer.start();
  const reconciling = reconciler.start();
  const logging = parts.runLog.publisher.start();
  const watching = funds.start();
  const folding = startFolding(db, logger);
  const interrupted = setInterval(() => {
    runs
      .markInterrupted(INTERRUPTED_CHECK_MS)
      .catch((err: unknown) => logger.warn({ err }, 'the search for interrupted runs failed'));
  }, INTERRUPTED_CHECK_MS);
  return {
    pause() {
      clearInterval(interrupted);
      stopping.abort();
    },
    async stop() {
      await Promise.all([
        following.stop(),
        reconciling.stop(),
        logging.stop(),
        watching.stop(),
        folding.stop(),
        jobs.stop(),
        sampleJobs.stop(),
      ]);
    },
  };
}
