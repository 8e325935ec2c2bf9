import { isApiError, type RentalClient } from '@agent-rental/sdk';
import { TaskState, type ListTasksRequest, type ListTasksResponse, type Task } from '@a2a-js/sdk';
import type { Contexts } from './contexts.js';
import { taskOfRun, taskOfSummary } from './task-of-run.js';

const PAGE = { default: 50, max: 100, withArtifacts: 20 };
/** Pages of runs that are read for one page of tasks, where a filter leaves out most of them. */
const MOST_READ_PAGES = 5;

/** One caller's access to its tasks. */
export interface TaskReader {
  client: RentalClient;
  /** The agent that is called; absent: the marketplace, whose messages name one. */
  agentId: string | undefined;
  contexts: Contexts;
  /** The caller goes away. Its runs go on. */
  leave: AbortSignal;
}

/**
 * A page of the caller's tasks, the newest first. With a filter a page may have few tasks although others follow, and
 * `totalSize` counts the ones of the page.
 *
 * @throws ApiError for a page token that is none.
 */
export async function listTasks(deps: TaskReader, asked: ListTasksRequest): Promise<ListTasksResponse> {
  const { client, agentId, leave: signal } = deps;
  const most = asked.includeArtifacts ? PAGE.withArtifacts : PAGE.max;
  const limit = Math.min(Math.max(1, Math.trunc(asked.pageSize ?? PAGE.default)), most);
  const tasks: Task[] = [];
  let cursor = asked.pageToken === '' ? undefined : asked.pageToken;
  let total = 0;
  for (let read = 0; read < MOST_READ_PAGES && tasks.length === 0; read += 1) {
    const page = await client.listRuns({ agent_id: agentId, limit, cursor }, { signal });
    const contexts = await deps.contexts.find(page.runs.map(({ run_id }) => run_id));
    const found = page.runs.map((run) => taskOfSummary(run, contexts.get(run.run_id)));
    tasks.push(...found.filter((task) => isAsked(task, asked)));
    total = page.total;
    cursor = page.next_cursor;
    if (cursor === undefined) break;
  }
  return {
    tasks: asked.includeArtifacts ? await withArtifacts(deps, tasks) : tasks,
    nextPageToken: cursor ?? '',
    pageSize: limit,
    totalSize: hasFilter(asked) ? tasks.length : total,
  };
}

function hasFilter({ contextId, status, statusTimestampAfter }: ListTasksRequest): boolean {
  return (
    contextId !== '' || status !== TaskState.TASK_STATE_UNSPECIFIED || statusTimestampAfter !== undefined
  );
}

function isAsked(task: Task, { contextId, status, statusTimestampAfter: after }: ListTasksRequest): boolean {
  if (contextId !== '' && task.contextId !== contextId) return false;
  if (status !== TaskState.TASK_STATE_UNSPECIFIED && task.status?.state !== status) return false;
  return after === undefined || Date.parse(task.status?.timestamp ?? '') >= Date.parse(after);
}

/** The tasks with their outputs, as far as these are kept. */
function withArtifacts({ client, leave: signal }: TaskReader, tasks: Task[]): Promise<Task[]> {
  return Promise.all(
    tasks.map(async (task) => {
      const run = await client.getRun(task.id, { signal }).catch((error: unknown) => {
        if (isApiError(error) && error.code === 'not_found') return undefined;
        throw error;
      });
      return run === undefined ? task : { ...task, artifacts: taskOfRun(run).artifacts };
    }),
  );
}
