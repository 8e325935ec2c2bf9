import { isApiError, type RentalClient } from '@agent-rental/sdk';
import type { Approve, RentedTool, RentedToolset, RunCallback } from '@agent-rental/tools';
import {
  ProtocolError,
  ProtocolErrorCode,
  type Result,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { askFor, isYes } from '../calls/approvals.js';
import { toCallResult } from '../calls/call-result.js';
import type { AskingTask, AskingTasks, AskingWork } from './asking-tasks.js';
import { taskFacts, taskOfAsking, taskOfRun } from './task-state.js';
import { noTask, type AskingTaskRecord, type TaskIds } from './task-ids.js';
import type { CreateTaskResult, DetailedTask } from './wire.js';

/** Longest wait for a cancellation, which happens in any case. */
const CANCEL_WAIT_MS = 2_000;

/** The parts that {@link Tasks} uses. */
interface TasksOptions {
  readonly ids: TaskIds;
  readonly client: RentalClient;
  readonly toolset: RentedToolset;
  /** Tasks that ask their client. Absent if each request has a separate server. */
  readonly asking?: AskingTasks | undefined;
  /** How long a call waits for its run before it is a task. */
  readonly waitMs: number;
}

/** MCP's tasks. A task is a run; the marketplace stores its state. */
export class Tasks {
  readonly #options: TasksOptions;

  constructor(options: TasksOptions) {
    this.#options = options;
  }

  /** How long a call waits for its run before it is a task. */
  get waitMs(): number {
    return this.#options.waitMs;
  }

  /** The task of a running run. */
  ofRun(runId: string): CreateTaskResult {
    const task = { runId, createdAtMs: Date.now() };
    const id = this.#options.ids.write(task);
    if (id === undefined) throw new Error('The id of a run is too long for a task.');
    const facts = taskFacts(id, task.createdAtMs);
    const statusMessage = `Run ${runId} is working.`;
    return { resultType: 'task', ...facts, status: 'working', statusMessage, lastUpdatedAt: facts.createdAt };
  }

  /**
   * Starts a call that needs approval, as a task that waits for the answer. Undefined if it cannot be a task: then the call
   * itself asks.
   */
  async ofQuestion(
    tool: RentedTool,
    args: Readonly<Record<string, unknown>>,
    callback?: RunCallback,
  ): Promise<CreateTaskResult | undefined> {
    const { ids, asking } = this.#options;
    const record = { tool: tool.name, args, key: `mcp-${randomUUID()}`, createdAtMs: Date.now(), callback };
    const id = asking?.hasRoom === true ? ids.write(record) : undefined;
    if (asking === undefined || id === undefined) return undefined;
    const task = asking.begin(id, this.#approved(tool, record));
    await task.settle();
    const facts = taskFacts(id, record.createdAtMs);
    const status = Object.keys(task.questions).length > 0 ? 'input_required' : 'working';
    return { resultType: 'task', ...facts, status, lastUpdatedAt: facts.createdAt };
  }

  /** `tasks/get` */
  async get(taskId: string, { mcpReq: { signal } }: ServerContext): Promise<DetailedTask> {
    const record = this.#options.ids.read(taskId);
    if ('runId' in record) return taskOfRun(taskId, record, await this.#runOf(record.runId, signal));
    const task = await this.#asking(taskId, record, signal);
    await task.settle();
    const { outcome } = task;
    if (outcome === undefined || !('runId' in outcome)) return taskOfAsking(taskId, record.createdAtMs, task);
    const run = { runId: outcome.runId, createdAtMs: record.createdAtMs };
    return taskOfRun(taskId, run, await this.#runOf(outcome.runId, signal));
  }

  /** `tasks/update` */
  async update(
    taskId: string,
    answers: Readonly<Record<string, unknown>>,
    { mcpReq: { signal } }: ServerContext,
  ): Promise<Result> {
    const record = this.#options.ids.read(taskId);
    if ('runId' in record) return {};
    const task = await this.#asking(taskId, record, signal);
    // A task that another process started asks only after a moment.
    await task.settle();
    task.answer(answers);
    return {};
  }

  /** `tasks/cancel`: by the rules of a run's cancellation. */
  async cancel(taskId: string): Promise<Result> {
    const { ids, asking, client } = this.#options;
    const record = ids.read(taskId);
    const task = asking?.find(taskId);
    task?.cancel();
    const runId =
      'runId' in record ? record.runId : task?.outcome && 'runId' in task.outcome && task.outcome.runId;
    const cancelling = runId
      ? client.cancelRun(runId)
      : // The key also refuses the run in other processes, where the question may still be answered.
        client.cancelRunByKey((record as AskingTaskRecord).key);
    await answered(Promise.race([cancelling, pause(CANCEL_WAIT_MS, undefined, { ref: false })]));
    return {};
  }

  async #runOf(runId: string, signal: AbortSignal) {
    return answered(this.#options.client.getRun(runId, { signal }));
  }

  /** The task of a question. It starts again a task of another process, which its key protects from a second payment. */
  async #asking(taskId: string, record: AskingTaskRecord, signal: AbortSignal): Promise<AskingTask> {
    const { asking, toolset } = this.#options;
    const known = asking?.find(taskId);
    if (known !== undefined) return known;
    if (asking?.hasRoom !== true)
      throw noTask('too many tasks wait for an answer; answer or cancel them first.');
    const tool = await answered(toolset.find(record.tool, { signal }));
    if (tool === undefined) throw noTask(`there is no tool ${record.tool} any more.`);
    return asking.find(taskId) ?? asking.begin(taskId, this.#approved(tool, record));
  }

  #approved(tool: RentedTool, { args, key, callback }: AskingTaskRecord): AskingWork {
    return async (ask, signal) => {
      let count = 0;
      const approve: Approve = async (request) => {
        count += 1;
        return isYes(await ask(count === 1 ? 'approve' : `approve_${count}`, askFor(request)));
      };
      const result = await tool.invoke(args, {
        signal,
        idempotencyKey: key,
        approve,
        callback,
        patienceMs: this.waitMs,
        endOnly: true,
      });
      return result.status === 'running' && result.runId !== undefined
        ? { runId: result.runId }
        : { result: toCallResult(result) };
    };
  }
}

/** @throws ProtocolError in place of an error of the marketplace */
async function answered<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    if (!isApiError(error)) throw error;
    if (error.code === 'not_found') throw noTask('the result of its run is gone.');
    throw new ProtocolError(ProtocolErrorCode.InternalError, error.message);
  }
}
