import { countRuns, type Metrics } from '../../operations/index.js';
import {
  createCallerCounts,
  createLiveRuns,
  createUnrecordedEnds,
  createNotedCounts,
  createRunChanges,
  createRunRepository,
  createSlotRepository,
  createSlots,
} from '../../runs/index.js';
import { openNotifications } from '../../database/notifications.js';
import type { AppParts } from '../app-parts.js';
import { concurrentRunsPerListing } from '../sandboxes/pool-share.js';
import type { SandboxShares } from '../sandboxes/sandboxes.js';

/** The records of runs, and the messages by which replicas hear of each other's. */
export type RunRecords = Awaited<ReturnType<typeof composeRunRecords>>;

/** Runs without a process are looked for this often, and only runs at least this old. */
export const INTERRUPTED_CHECK_MS = 60_000;

/** Composes the records of runs, and ends the unfinished runs of an earlier process. */
export async function composeRunRecords(
  { database, keys, logger, config, alone }: AppParts,
  { share }: SandboxShares,
  metrics: Metrics,
) {
  const { db, pool } = database;
  const runs = countRuns(createRunRepository(db, keys), metrics);
  const notifications = await openNotifications(pool, 'agent_rental_runs', logger);
  const changes = createRunChanges(notifications);
  const live = createLiveRuns({ runs, changes, logger });
  const callerCounts = createCallerCounts(db);
  const slots = createSlots({
    repository: createSlotRepository(db, notifications.channel),
    changes,
    logger,
    queue: config.queue,
    slotsPerListing: concurrentRunsPerListing(share, logger),
  });
  if (alone) await slots.freeAll();
  await runs.markInterrupted(alone ? 0 : INTERRUPTED_CHECK_MS);
  const noted = createNotedCounts(db, logger);
  const unrecordedEnds = createUnrecordedEnds({ runs, slots, changes, logger });
  return { runs, notifications, changes, live, callerCounts, slots, noted, unrecordedEnds };
}
