import type { ExecuteBody } from '@agent-rental/contract';
import { pino } from 'pino';
import { expect } from 'vitest';
import type { ApiError } from '../../errors/api-error.js';
import { openDatabase, type Db } from '../../database/connection.js';
import { openNotifications } from '../../database/notifications.js';
import { deriveKeys } from '../../platform/keys.js';
import { insertListing, loginOf, newWallet, publishedListing } from '../../testing/index.js';
import { createCallerCounts } from '../history/caller-counts.js';
import { createWaitingCallers, errorOfUndelivered, type Answer, type Caller } from './waiting-callers.js';
import { createLiveRuns } from '../live/live-runs.js';
import { parseOrder } from '../pipeline/order.js';
import { taskOf } from '../pipeline/parse.js';
import type { Task } from '../task.js';
import { createPastRuns } from '../history/past-runs.js';
import { createRunProgress } from '../history/run-progress.js';
import { requireNotCancelled } from '../pipeline/slot.js';
import { resolveCall } from './resolve-call.js';
import { createRunChanges } from '../live/run-changes.js';
import { createRunRepository, saltedDigest } from '../history/repository.js';

/** The parts of one server, over the shared database. */
export async function openReplica(url: string) {
  const database = openDatabase(url, () => undefined);
  const logger = pino({ level: 'silent' });
  const notifications = await openNotifications(database.pool, 'runs_test', logger);
  const changes = createRunChanges(notifications);
  const runs = createRunRepository(database.db, deriveKeys(new Uint8Array(32).fill(9)));
  const callerCounts = createCallerCounts(database.db);
  return {
    ...database,
    runs,
    changes,
    callerCounts,
    waitingCallers: createWaitingCallers({ runs, callerCounts, changes, logger, graceMs: 20 }),
    live: createLiveRuns({ runs, changes, logger }),
    pastRuns: createPastRuns({
      runs,
      callerCounts,
      changes,
      settlement: { wasCredited: async () => false },
      progressOf: createRunProgress(database.db),
    }),
    close: async () => {
      changes.close();
      await notifications.close();
      await database.close();
    },
  };
}
export type Replica = Awaited<ReturnType<typeof openReplica>>;

export const never = new AbortController().signal;
export const patient: Caller = { gone: never, patienceMs: undefined, mayComeBack: true };

/** Requests for one listing by one wallet. */
export async function newTask(db: Db, key: string | undefined, owner = loginOf(newWallet())) {
  const row = await insertListing(db);
  const listing = publishedListing({ id: row.version_id }, { id: row.id });
  const again = (changed: Partial<ExecuteBody> = {}, otherKey = key): Task => {
    const body = { agent_id: row.id, task: 'Do it.', ...changed };
    return taskOf(parseOrder(owner, body, otherKey), body, listing);
  };
  return { first: again(), again, owner };
}

/** Records a run. Undefined where its key has another run. */
const record = (replica: Replica, task: Task) =>
  replica.runs.begin({
    id: task.runId,
    listingId: task.listing.id,
    versionId: task.listing.version.id,
    owner: task.owner,
    key: task.key,
    requestDigest: task.digest,
    salt: task.salt,
    inputDigest: saltedDigest(task.salt, { task: task.task, input: task.input }),
  });

/** Serves a request as the pipeline does: gives the answer of an earlier run, or undefined once its own run is recorded. */
export async function ask(
  replica: Replica,
  task: Task,
  caller: Caller = patient,
): Promise<Answer | undefined> {
  let call = await resolveCall(replica, task, caller);
  if (call.kind === 'new') {
    if (await record(replica, task)) {
      await requireNotCancelled(replica.runs, task).catch(async (refusal: ApiError) => {
        await replica.runs.discard(task.runId, refusal);
        throw refusal;
      });
      return undefined;
    }
    call = await resolveCall(replica, task, caller);
    if (call.kind === 'new') throw errorOfUndelivered();
  }
  return replica.runs.toFinished(call.run) ?? replica.waitingCallers.join(call.run.id, task.owner, caller);
}

export const resultOf = (task: Task, output = 'the answer') => ({
  runId: task.runId,
  agentId: task.listing.id,
  status: 'completed' as const,
  output,
  costLamports: 5n,
  durationMs: 1,
});

export async function finish(replica: Replica, task: Task, output?: string) {
  await replica.runs.finish(resultOf(task, output));
  await replica.changes.announce(task.runId);
}

/** Works for a started run until it is told to stop. */
function workEndlessly(replica: Replica, task: Task) {
  return replica.live.start(task.runId, async (stop) => {
    await new Promise<void>((resolve) => stop.addEventListener('abort', () => resolve(), { once: true }));
    const failed = { ...resultOf(task, 'stopped'), status: 'failed' as const };
    await replica.runs.finish(failed);
    await replica.changes.announce(task.runId);
    return failed;
  });
}

/** Begins a run that works until it is told to stop, for one caller. */
export async function startAwaited(replica: Replica, task: Task, caller: Caller = patient) {
  expect(await record(replica, task)).toBeDefined();
  const run = { runId: task.runId, agentId: task.listing.id };
  return { answer: replica.waitingCallers.waitFor(run, caller, workEndlessly(replica, task)) };
}
