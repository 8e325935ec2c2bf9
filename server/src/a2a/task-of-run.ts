import type { Run, RunState, RunSummary } from '@agent-rental/contract';
import {
  Role,
  TaskState,
  type Artifact,
  type Message,
  type Part,
  type StreamResponse,
  type Task,
  type TaskStatus,
} from '@a2a-js/sdk';

/** The extension that adds to cards and tasks: price, cost, the page where one rents. */
export const RENTAL_EXTENSION = 'urn:agent-rental:listing';
/** A run has one output. */
const ARTIFACT_ID = 'output';

const part = (content: NonNullable<Part['content']>, mediaType: string): Part => ({
  content,
  metadata: undefined,
  filename: '',
  mediaType,
});

/** Text as a part. */
export const textPart = (text: string): Part => part({ $case: 'text', value: text }, 'text/plain');

/** A JSON value as a part. */
export const dataPart = (value: unknown): Part => part({ $case: 'data', value }, 'application/json');

/** A message of an agent. Its id is made of the task, so that it stays the same. */
export function messageOf(ids: { taskId: string; contextId: string }, parts: Part[], id: string): Message {
  return {
    ...ids,
    messageId: id,
    role: Role.ROLE_AGENT,
    parts,
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
  };
}

/** The output of a run, or a piece of it, as an artifact. */
function artifactOf(output: unknown): Artifact {
  return {
    artifactId: ARTIFACT_ID,
    name: 'output',
    description: '',
    parts: [typeof output === 'string' ? textPart(output) : dataPart(output)],
    metadata: undefined,
    extensions: [],
  };
}

/** The state of a task whose run is in this state. */
function stateOf(run: Pick<RunState, 'status'> & { step?: unknown; stop_reason?: unknown }): TaskState {
  if (run.status === 'running')
    return run.step === 'queued' ? TaskState.TASK_STATE_SUBMITTED : TaskState.TASK_STATE_WORKING;
  if (run.status === 'completed') return TaskState.TASK_STATE_COMPLETED;
  return run.stop_reason === undefined ? TaskState.TASK_STATE_FAILED : TaskState.TASK_STATE_CANCELED;
}

/** A run as a task, whose id is the run's. */
export function taskOfRun(run: RunState | Run, contextId = run.run_id): Task {
  const ids = { taskId: run.run_id, contextId };
  const failure = run.status === 'failed' ? asText(run.output) : undefined;
  const state = stateOf(run);
  return {
    id: run.run_id,
    contextId,
    status: statusOf(
      state,
      failure === undefined ? undefined : messageOf(ids, [textPart(failure)], `${run.run_id}-end`),
    ),
    artifacts: run.status === 'completed' ? [artifactOf(run.output)] : [],
    history: [],
    metadata: run.status === 'running' ? undefined : { [RENTAL_EXTENSION]: costOf(run) },
  };
}

/** A run of a list as a task, without its output. */
export function taskOfSummary(run: RunSummary, contextId = run.run_id): Task {
  const status = run.status === 'undelivered' ? 'failed' : run.status;
  const state = stateOf({ status });
  const timestamp = run.finished_at ?? run.created_at;
  return {
    id: run.run_id,
    contextId,
    status: { state, message: undefined, timestamp },
    artifacts: [],
    history: [],
    metadata: { [RENTAL_EXTENSION]: costOf(run) },
  };
}

/** A status. The service keeps no times of a run's steps: a status has none. */
export function statusOf(state: TaskState, message?: Message): TaskStatus {
  return { state, message, timestamp: undefined };
}

function costOf({
  cost_lamports,
  duration_ms,
  run_id,
}: Pick<Run, 'cost_lamports' | 'run_id'> & { duration_ms: number | null }) {
  return {
    costLamports: cost_lamports,
    durationMs: duration_ms,
    receiptPath: `/v1/runs/${run_id}/receipt`,
  };
}

function asText(output: unknown): string {
  return typeof output === 'string' ? output : JSON.stringify(output);
}

/**
 * The events that end a stream of a task. The whole output takes the place of its pieces. It may be data, whose pieces are
 * text. Some readers, such as ADK, keep whole artifacts alone.
 */
export function* endOf(task: Task): Generator<StreamResponse> {
  const { id: taskId, contextId, status, metadata } = task;
  for (const artifact of task.artifacts) {
    const value = { taskId, contextId, artifact, append: false, lastChunk: true, metadata: undefined };
    yield { payload: { $case: 'artifactUpdate', value } };
  }
  yield { payload: { $case: 'statusUpdate', value: { taskId, contextId, status, metadata } } };
}

/** A further piece of the output. */
export function pieceOf(taskId: string, contextId: string, delta: string, isFirst: boolean): StreamResponse {
  return {
    payload: {
      $case: 'artifactUpdate',
      value: {
        taskId,
        contextId,
        artifact: artifactOf(delta),
        append: !isFirst,
        lastChunk: false,
        metadata: undefined,
      },
    },
  };
}
