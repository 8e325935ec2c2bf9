import { chargeText, MARKETPLACE_MARK, resultOfState } from '@agent-rental/tools';
import type { RentalClient } from '@agent-rental/sdk';
import { toCallResult } from '../calls/call-result.js';
import type { AskingTask } from './asking-tasks.js';
import { TASK_TTL_MS, type RunTaskRecord } from './task-ids.js';
import type { DetailedTask, Task } from './wire.js';

/** A client's poll interval: short at first, because most runs are short. */
const POLL_MS = { atFirst: 1_000, later: 5_000 };
/** Duration of the first phase. */
const AT_FIRST_MS = 15_000;

type RunState = Awaited<ReturnType<RentalClient['getRun']>>;

/** The common part of every state of a task. */
export function taskFacts(
  taskId: string,
  createdAtMs: number,
): Omit<Task, 'status' | 'statusMessage' | 'lastUpdatedAt'> {
  const isYoung = Date.now() - createdAtMs < AT_FIRST_MS;
  return {
    taskId,
    createdAt: new Date(createdAtMs).toISOString(),
    ttlMs: TASK_TTL_MS,
    pollIntervalMs: isYoung ? POLL_MS.atFirst : POLL_MS.later,
  };
}

/** The state of a task that is a run. */
export function taskOfRun(taskId: string, { createdAtMs }: RunTaskRecord, state: RunState): DetailedTask {
  const facts = taskFacts(taskId, createdAtMs);
  const { createdAt } = facts;
  if (state.status === 'running') {
    const statusMessage = `Run ${state.run_id} of ${state.agent_id} is working.`;
    return { ...facts, status: 'working', statusMessage, lastUpdatedAt: createdAt };
  }
  // The end time is unknown, but the run did not begin after its task.
  const endedAtMs = Math.min(createdAtMs + state.duration_ms, Math.max(Date.now(), createdAtMs));
  const ended = { ...facts, lastUpdatedAt: new Date(endedAtMs).toISOString() };
  const statusMessage = `${MARKETPLACE_MARK} Run ${state.run_id}: ${chargeText(state)}`;
  if (state.stop_reason === 'cancelled') return { ...ended, status: 'cancelled', statusMessage };
  return { ...ended, status: 'completed', statusMessage, result: toCallResult(resultOfState(state)) };
}

/** The state of a task that asks its client and has no run yet. */
export function taskOfAsking(taskId: string, createdAtMs: number, task: AskingTask): DetailedTask {
  const facts = {
    ...taskFacts(taskId, createdAtMs),
    lastUpdatedAt: new Date(task.changedAtMs).toISOString(),
  };
  const { outcome, questions: inputRequests } = task;
  if (outcome === undefined) {
    return Object.keys(inputRequests).length === 0
      ? { ...facts, status: 'working' }
      : { ...facts, status: 'input_required', inputRequests };
  }
  if ('result' in outcome) return { ...facts, status: 'completed', result: outcome.result };
  if ('error' in outcome)
    return { ...facts, status: 'failed', statusMessage: outcome.error.message, error: outcome.error };
  return { ...facts, status: 'isCancelled' in outcome ? 'cancelled' : 'working' };
}
