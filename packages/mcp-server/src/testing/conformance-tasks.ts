/** The conformance suite's tools that are tasks and ask their client, which no rented agent does. */
import { inputRequired, type CallToolResult, type Result } from '@modelcontextprotocol/server';
import { randomUUID } from 'node:crypto';
import type { RentalHandlers } from '../rental-server-options.js';
import { AskingTasks, type AskingWork } from '../tasks/asking-tasks.js';
import { noTask } from '../tasks/task-ids.js';
import { taskFacts, taskOfAsking } from '../tasks/task-state.js';

type TaskHandlers = Pick<RentalHandlers, 'getTask' | 'updateTask' | 'cancelTask'>;

const PREFIX = 'fixture-';
const done = (said: string) => ({ result: { content: [{ type: 'text' as const, text: said }] } });
const question = (message: string) =>
  inputRequired.elicit({
    message,
    requestedSchema: { type: 'object', properties: { confirm: { type: 'boolean' } }, required: ['confirm'] },
  });

const WORK: Record<string, AskingWork> = {
  confirm_delete: async (ask) =>
    done(`Answered: ${JSON.stringify(await ask('confirm', question('Delete it?')))}`),
  multi_input: async (ask) => {
    const answers = await Promise.all([ask('first', question('One?')), ask('second', question('Two?'))]);
    return done(`Answered: ${JSON.stringify(answers)}`);
  },
  protocol_error_job: async () => {
    throw new Error('This job ends with an error of the protocol.');
  },
};

/** Names of the tools. */
export const ASKING_TOOLS = Object.keys(WORK);

/** Tasks of these tools, in addition to the adapter's tasks. */
export interface FixtureTasks {
  /** Starts a tool's task; undefined for the name of another tool. */
  begin(name: string): CallToolResult | undefined;
  /** The handlers of the methods of tasks: these tasks for their ids, otherwise the adapter. */
  over(handlers: TaskHandlers): TaskHandlers;
}

/** Makes the tasks, one set for all requests. */
export function createFixtureTasks(): FixtureTasks {
  const tasks = new AskingTasks();
  const find = (id: string) => {
    const task = tasks.find(id);
    if (task === undefined) throw noTask('the fixture does not know it.');
    return task;
  };
  return {
    begin(name) {
      const work = WORK[name];
      if (work === undefined) return undefined;
      const id = `${PREFIX}${randomUUID()}`;
      const { createdAtMs } = tasks.begin(id, work);
      const facts = taskFacts(id, createdAtMs);
      const created: Result = {
        resultType: 'task',
        ...facts,
        status: 'working',
        lastUpdatedAt: facts.createdAt,
      };
      return created as CallToolResult;
    },
    over: (handlers) => ({
      getTask: async (params, context) => {
        if (!params.taskId.startsWith(PREFIX)) return handlers.getTask(params, context);
        const task = find(params.taskId);
        await task.settle();
        return taskOfAsking(params.taskId, task.createdAtMs, task);
      },
      updateTask: async (params, context) => {
        if (!params.taskId.startsWith(PREFIX)) return handlers.updateTask(params, context);
        find(params.taskId).answer(params.inputResponses);
        return {};
      },
      cancelTask: async (params, context) => {
        if (!params.taskId.startsWith(PREFIX)) return handlers.cancelTask(params, context);
        find(params.taskId).cancel();
        return {};
      },
    }),
  };
}
