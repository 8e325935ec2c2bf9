import type { RentalClient } from '@agent-rental/sdk';
import type { DirectToolDefinition } from '../definitions/direct-tool-definition.js';
import type { DirectToolCache } from '../definitions/direct-tool-cache.js';
import { resultOfBadArguments, resultOfError } from '../definitions/error-result.js';
import { isTextObject } from '../schema/compile-input.js';
import type { RentedTool, ToolCallOptions } from '../definitions/rented-tool.js';
import {
  argumentsObject,
  BadArgumentsError,
  inputArgument,
  INPUT_URI_SCHEMA,
  inputUriArgument,
  runOptions,
  taskArgument,
} from '../runs/run-arguments.js';
import { approvalOfRun } from '../runs/run-spending.js';
import { RUN_ANNOTATIONS, spendingOfRun } from '../runs/bind-direct-tool.js';
import type { RunTask } from '../runs/run-arguments.js';
import { runTask } from '../runs/run-task.js';
import type { ToolContext } from '../definitions/tool-context.js';
import { checkedTool } from '../runs/checked-tool.js';
import { agentIdArgument } from './agent-id.js';

/**
 * `run_agent`: the execute request as a tool. It runs a new rental at once, also for clients that do not read the list of
 * tools again.
 */
export function runAgentTool(context: ToolContext): RentedTool {
  const { client, cache } = context;
  return checkedTool({
    name: 'run_agent',
    title: 'Run a rented agent',
    description:
      'Runs a task on any agent that this wallet has rented, and returns its output. For "per_query" agents ' +
      'each call charges their price, also when the agent fails. The first run of an agent with a free_trial ' +
      'is free and needs no rental, for the wallets that its free_trial names.',
    inputSchema: {
      type: 'object',
      properties: {
        agent_id: { type: 'string', description: 'Id of the rented agent.' },
        task: { type: 'string', description: 'The task in plain language.' },
        input: {
          type: 'object',
          description:
            "Input in the shape of the agent's input_schema (get_listing shows it). For an agent whose input " +
            'is a text: {"text": "..."}.',
        },
        input_uri: INPUT_URI_SCHEMA,
      },
      required: ['agent_id', 'task'],
    },
    annotations: RUN_ANNOTATIONS,
    spending: async (args, options = {}) => {
      try {
        const agentId = agentIdArgument(argumentsObject(args));
        const definition = await definitionOf(client, cache, agentId, options.signal);
        if (definition === undefined) return { kind: 'nothing' };
        const { priceLamports: told } = definition;
        return spendingOfRun(context.spending ? await context.spending.mostOfRun(agentId, told) : told);
      } catch (error) {
        options.signal?.throwIfAborted();
        // Bad arguments run no agent.
        return error instanceof BadArgumentsError ? { kind: 'nothing' } : spendingOfRun(undefined);
      }
    },
    approvalOf: async (args, call) => {
      const agentId = (args as { agent_id?: unknown } | null)?.agent_id;
      return typeof agentId === 'string' ? approvalOfRun(context, agentId.trim(), call) : undefined;
    },
    stream: async function* (args, options = {}) {
      let run: RunTask;
      let own: ToolCallOptions;
      try {
        const given = argumentsObject(args);
        own = runOptions(given, options);
        const agentId = agentIdArgument(given);
        const input = await plainInput(client, cache, agentId, given['input'], options.signal);
        run = { agentId, task: taskArgument(given), ...inputArgument(input), ...inputUriArgument(given) };
      } catch (error) {
        options.signal?.throwIfAborted();
        return error instanceof BadArgumentsError
          ? resultOfBadArguments(error.message)
          : resultOfError(error);
      }
      return yield* runTask(context, run, own);
    },
  });
}

/** `input` in the agent's form. It reads the schema only if the input may be text. */
async function plainInput(
  client: RentalClient,
  cache: DirectToolCache,
  agentId: string,
  input: unknown,
  signal: AbortSignal | undefined,
): Promise<unknown> {
  if (typeof input !== 'string' && !isTextObject(input)) return input;
  const definition = await definitionOf(client, cache, agentId, signal);
  if (definition === undefined) return input;
  // With an unknown schema, text with a JSON object is read as JSON, and {"text": ...} stays.
  return definition.input.read(input);
}

/** Facts about an agent, rented or not; undefined if there is no such agent. */
async function definitionOf(
  client: RentalClient,
  cache: DirectToolCache,
  agentId: string,
  signal: AbortSignal | undefined,
): Promise<DirectToolDefinition | undefined> {
  const credential = { listing_id: agentId, listing_title: agentId, rental_model: 'per_query' as const };
  return cache.definition(client, credential, signal);
}
