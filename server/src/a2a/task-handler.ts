import type { Run, RunState } from '@agent-rental/contract';
import { isApiError } from '@agent-rental/sdk';
import {
  TaskState,
  type Message,
  type SendMessageRequest,
  type StreamResponse,
  type Task,
} from '@a2a-js/sdk';
import {
  ExtendedAgentCardNotConfiguredError,
  TaskNotCancelableError,
  UnsupportedOperationError,
} from '@a2a-js/sdk/errors';
import type { A2ARequestHandler } from '@a2a-js/sdk/server';
import { listTasks, type TaskReader } from './list-tasks.js';
import { noSuchTask, rethrow, toProtocolError } from './protocol-errors.js';
import { checkPush, createPushHandlers, setPush, type PushDeps } from './push-notifications.js';
import { hasFile, keyOfMessage, malformed, type AskedRun } from './read-message.js';
import { endOf, pieceOf, taskOfRun } from './task-of-run.js';
import { readUnpaid, taskOfRefusal, unpaidTask, waitingForPayment } from './unpaid-task.js';

/** As long as a call of the HTTP API waits. */
const WAIT_SECONDS = 60;
const CONTEXT_ID = /^[\x20-\x7e]{0,200}$/;

/** A message that was read: the order of a run, or an answer that needs no run. */
export type Asked = { agentId: string; run: AskedRun } | { answer: Message };

/** The parts of one caller's requests. */
export interface TaskHandlerDeps extends TaskReader {
  read: (message: Message) => Promise<Asked>;
  publicUrl: string;
  push: Omit<PushDeps, 'contextOf'>;
}

/** Answers A2A's requests of one caller by the marketplace's API. A task is a run; a task that waits for a payment is none yet. */
export function createTaskHandler(deps: TaskHandlerDeps): A2ARequestHandler {
  const { client, agentId, contexts, leave } = deps;

  /** The run of a task. @throws TaskNotFoundError also for a run of another agent. */
  const findRun = async (id: string, waitSeconds?: number): Promise<RunState> => {
    const run = await client.getRun(id, { waitSeconds, signal: leave }).catch((error: unknown) => {
      if (isApiError(error) && error.code === 'not_found') return undefined;
      throw error;
    });
    if (run === undefined || (agentId !== undefined && run.agent_id !== agentId)) throw noSuchTask(id);
    return run;
  };
  const toTask = async (run: RunState): Promise<Task> =>
    taskOfRun(run, (await contexts.find([run.run_id])).get(run.run_id));
  /** The state of an ended run: its answer does not say whether it was stopped. */
  const ended = async (run: RunState | Run): Promise<RunState | Run> =>
    run.status === 'failed' ? client.getRun(run.run_id) : run;

  const push: PushDeps = {
    ...deps.push,
    contextOf: async (taskId) => (await toTask(await findRun(taskId).catch(rethrow))).contextId,
  };
  /** Keeps the context and the push notification config that came with the message of a run. */
  const keep = async (runId: string, contextId: string, { configuration }: SendMessageRequest) => {
    await contexts.keep(runId, contextId);
    const config = configuration?.taskPushNotificationConfig;
    if (config) await setPush(push, { ...config, taskId: runId, id: config.id || runId });
  };

  const open = async ({ message, configuration }: SendMessageRequest) => {
    if (!message) throw malformed('The request has no message.');
    if (message.messageId === '')
      throw malformed('The message has no id. Set messageId, and keep it when you send again.');
    if (!CONTEXT_ID.test(message.contextId))
      throw malformed('The context id is not taken. It has at most 200 characters of ASCII.');
    if (message.taskId !== '' && !readUnpaid(message.taskId)) {
      const { status } = await findRun(message.taskId);
      throw new UnsupportedOperationError({
        message: `The task ${status === 'running' ? 'works, and takes' : 'has ended, and takes'} no further message. Send one without a task id.`,
      });
    }
    if (configuration?.taskPushNotificationConfig)
      checkPush(push.pushes, configuration.taskPushNotificationConfig);
    const contextId = message.contextId || (readUnpaid(message.taskId)?.contextId ?? '');
    return { message, contextId, asked: await deps.read(message) };
  };
  const body = ({ agentId: agent_id, run }: Extract<Asked, { run: unknown }>) => ({ agent_id, ...run });

  async function* stream(params: SendMessageRequest): AsyncGenerator<StreamResponse, void, undefined> {
    const { message, contextId, asked } = await open(params);
    if ('answer' in asked) {
      yield { payload: { $case: 'message', value: asked.answer } };
      return;
    }
    let runId = '';
    let onRunId = (): void => undefined;
    const isKnown = new Promise<void>((resolve) => (onRunId = resolve));
    const events = client.executeStream(body(asked), {
      idempotencyKey: keyOfMessage(asked.agentId, message),
      leave,
      onRunId(id) {
        runId = id;
        onRunId();
      },
    });
    let isEnded = false;
    try {
      let next = events.next();
      // It may fail while the reader takes the task.
      next.catch(() => undefined);
      await Promise.race([isKnown, next]);
      await keep(runId, contextId, params);
      const context = contextId || runId;
      yield taskEvent(taskOfRun({ run_id: runId, agent_id: asked.agentId, status: 'running' }, context));
      let isFirst = true;
      for (let event = await next; !event.done; event = await next) {
        if (event.value.event === 'done') {
          isEnded = true;
          yield* endOf(taskOfRun(await ended({ ...event.value.data, agent_id: asked.agentId }), context));
          return;
        }
        yield pieceOf(runId, context, event.value.data.delta, isFirst);
        isFirst = false;
        next = events.next();
      }
    } catch (error) {
      const refused = taskOfRefusal(error, { agentId: asked.agentId, contextId }, deps.publicUrl);
      if (!refused || runId !== '') throw toProtocolError(error, hasFile(message));
      yield taskEvent(refused);
    } finally {
      if (!isEnded && runId !== '') void goOn(events, runId);
    }
  }

  /** Lets the run of a stream go on whose reader has left, as it does after any other message. */
  async function goOn(events: AsyncIterable<unknown>, runId: string): Promise<void> {
    try {
      // Its end would cancel the run; `leave` breaks it off.
      for await (const _ of events);
    } catch {
      await client.getRun(runId).catch(() => undefined);
    }
  }

  return {
    getAgentCard: async () => CAPABLE,
    getAuthenticatedExtendedAgentCard: async () => {
      throw new ExtendedAgentCardNotConfiguredError();
    },

    async sendMessage(params) {
      const { message, contextId, asked } = await open(params);
      if ('answer' in asked) return asked.answer;
      const waitSeconds = params.configuration?.returnImmediately ? 0 : WAIT_SECONDS;
      try {
        const idempotencyKey = keyOfMessage(asked.agentId, message);
        const started = await client.executeAsync(body(asked), { idempotencyKey, waitSeconds, leave });
        await keep(started.run_id, contextId, params);
        const run =
          started.status === 'running' && waitSeconds > 0
            ? await client.waitForRun(started.run_id, { signal: leave })
            : await ended(started);
        return await toTask(run);
      } catch (error) {
        const refused = taskOfRefusal(error, { agentId: asked.agentId, contextId }, deps.publicUrl);
        if (refused) return refused;
        // It began and its charge is under way: it can be asked for.
        if (isApiError(error) && error.runId !== undefined && error.status >= 500)
          return toTask(await findRun(error.runId));
        throw toProtocolError(error, hasFile(message));
      }
    },

    sendMessageStream: stream,

    async getTask({ id }) {
      const unpaid = readUnpaid(id);
      if (!unpaid) return toTask(await findRun(id).catch(rethrow));
      const { valid } = await client.verifyCredential(unpaid.agentId, { signal: leave }).catch(rethrow);
      return valid
        ? unpaidTask(
            unpaid,
            TaskState.TASK_STATE_REJECTED,
            'The agent is rented now. Send the same message again.',
          )
        : waitingForPayment(unpaid, deps.publicUrl, 'The agent is not rented, or its balance is too low.');
    },

    listTasks: async (params) => listTasks(deps, params).catch(rethrow),

    async cancelTask({ id }) {
      const unpaid = readUnpaid(id);
      if (unpaid)
        return unpaidTask(unpaid, TaskState.TASK_STATE_CANCELED, 'Nothing ran, and nothing was charged.');
      if ((await findRun(id).catch(rethrow)).status !== 'running') throw new TaskNotCancelableError();
      const { cancelled, run } = await client.cancelRun(id, { signal: leave }).catch(rethrow);
      if (!cancelled) throw new TaskNotCancelableError();
      return toTask(run ?? (await findRun(id)));
    },

    async *resubscribe({ id }) {
      let run = await findRun(id).catch(rethrow);
      if (run.status !== 'running')
        throw new UnsupportedOperationError({
          message: 'The task has ended. Ask for it in place of its events.',
        });
      const { contextId, ...task } = await toTask(run);
      yield taskEvent({ ...task, contextId });
      while (run.status === 'running') run = await findRun(id, WAIT_SECONDS).catch(rethrow);
      yield* endOf(taskOfRun(run, contextId));
    },

    ...createPushHandlers(push),
  };
}

/** The part of a card that the SDK's handlers ask for. */
const CAPABLE = {
  capabilities: { streaming: true, pushNotifications: true, extensions: [] },
} as unknown as Awaited<ReturnType<A2ARequestHandler['getAgentCard']>>;

const taskEvent = (value: Task): StreamResponse => ({ payload: { $case: 'task', value } });
