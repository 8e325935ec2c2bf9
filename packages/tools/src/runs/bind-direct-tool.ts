import type { DirectToolDefinition } from '../definitions/direct-tool-definition.js';
import { resultOfBadArguments, resultOfError } from '../definitions/error-result.js';
import type {
  RentedTool,
  ToolAnnotations,
  ToolCallOptions,
  ToolSpending,
} from '../definitions/rented-tool.js';
import type { ToolContext } from '../definitions/tool-context.js';
import {
  argumentsObject,
  BadArgumentsError,
  inputArgument,
  inputUriArgument,
  runOptions,
  taskArgument,
  type RunTask,
} from './run-arguments.js';
import { checkedTool } from './checked-tool.js';
import { approvalOfRun } from './run-spending.js';
import { runTask } from './run-task.js';

/** Hints of a tool that runs an agent: it costs money, has outside effects, and is not idempotent. */
export const RUN_ANNOTATIONS: ToolAnnotations = {
  readOnlyHint: false,
  destructiveHint: false,
  idempotentHint: false,
  openWorldHint: true,
};

/** Returns the direct tool of a definition, bound to the client that calls it. */
export function bindDirectTool(context: ToolContext, definition: DirectToolDefinition): RentedTool {
  const { name, title, description, inputSchema, agentId, iconPath, input, priceLamports } = definition;
  return checkedTool({
    name,
    title,
    description,
    inputSchema,
    agentId,
    ...(iconPath === undefined ? {} : { iconPath }),
    annotations: RUN_ANNOTATIONS,
    spending: async () =>
      spendingOfRun(
        context.spending ? await context.spending.mostOfRun(agentId, priceLamports) : priceLamports,
      ),
    approvalOf: (_args, call) => approvalOfRun(context, agentId, call),
    stream: async function* (args, options = {}) {
      let run: RunTask;
      let own: ToolCallOptions;
      try {
        const given = argumentsObject(args);
        own = runOptions(given, options);
        // The tool ignores `agent_id`: it runs its own agent.
        const value = given['input'] ?? undefined;
        run = {
          agentId,
          task: taskArgument(given),
          ...inputArgument(value === undefined ? undefined : input.read(value)),
          ...inputUriArgument(given),
        };
      } catch (error) {
        if (error instanceof BadArgumentsError) return resultOfBadArguments(error.message);
        return resultOfError(error);
      }
      return yield* runTask(context, run, own);
    },
  });
}

/** Returns the spend of a run at a price; the price may be unknown. */
export function spendingOfRun(lamports: number | undefined): ToolSpending {
  return { kind: 'run', ...(lamports === undefined ? {} : { lamports }) };
}
