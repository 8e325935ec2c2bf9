import { startJobs } from '../platform/jobs.js';
import { LAPSE_CRONTAB, LAPSE_TASK, REGISTRATION_TASK, SAMPLES_TASK } from '../registration/index.js';
import { EXPIRY_CRONTAB, EXPIRY_TASK, removeExpired } from '../runs/index.js';
import type { AppParts } from './app-parts.js';
import type { Catalogue } from './catalogue.js';
import type { Registration } from './registration.js';
import { INTERRUPTED_CHECK_MS, type RunRecords } from './run-records.js';
import type { SettlementPart } from './settlement.js';

/** Each occupies a sandbox for up to a minute. */
const SAMPLE_RUNS_AT_ONCE = 4;

/** Work that goes on without a request. */
export interface Background {
  /** Starts no more work; `stop` ends what works. */
  pause(): void;
  stop(): Promise<void>;
}

/** Starts the jobs, the indexer, the reconciler and the search for interrupted runs. */
export async function startBackground(
  { database, logger }: AppParts,
  { indexer }: Catalogue,
  { registration, removal, samples }: Registration,
  { reconciler }: SettlementPart,
  { runs }: RunRecords,
): Promise<Background> {
  const { db, pool } = database;
  const jobs = await startJobs(
    pool,
    {
      [REGISTRATION_TASK]: async (payload) => registration.validate((payload as { job_id: string }).job_id),
      [EXPIRY_TASK]: () => removeExpired(db),
      [LAPSE_TASK]: () => removal.removeLapsed(),
    },
    logger,
    { crontab: [EXPIRY_CRONTAB, LAPSE_CRONTAB].join('\n') },
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
  const following = indexer.start();
  const reconciling = reconciler.start();
  const interrupted = setInterval(() => {
    runs
      .markInterrupted(INTERRUPTED_CHECK_MS)
      .catch((err: unknown) => logger.warn({ err }, 'the search for interrupted runs failed'));
  }, INTERRUPTED_CHECK_MS);
  return {
    pause: () => clearInterval(interrupted),
    async stop() {
      await Promise.all([following.stop(), reconciling.stop(), jobs.stop(), sampleJobs.stop()]);
    },
  };
}
