import type { Credential, JsonObject } from '@agent-rental/contract';
import { creatorLine, quoteCreator } from '../text/creator-text.js';
import { resultOfBadArguments, resultOfError } from './error-result.js';
import { solText } from '../text/lamports-text.js';
import { compileInput, type CompiledInput } from '../schema/compile-input.js';
import { madeOnce, type DescribedListing } from './memoised-definitions.js';
import { defineTool, type RentedTool, type ToolAnnotations, type ToolSpending } from './rented-tool.js';
import {
  argumentsObject,
  BadArgumentsError,
  inputArgument,
  INPUT_URI_SCHEMA,
  inputUriArgument,
  taskArgument,
} from '../runs/run-arguments.js';
import { approvalOfRun } from '../runs/run-spending.js';
import { runTask, type RunTask } from '../runs/run-task.js';
import type { ToolContext } from './tool-context.js';
import { toolName } from './tool-name.js';

/** Running an agent costs money and reaches outside; twice is two runs. */
export const RUN_ANNOTATIONS: ToolAnnotations = {
  readOnlyHint: false,
  destructiveHint: false,
  idempotentHint: false,
  openWorldHint: true,
};

const TITLE_LENGTH = 80;
const DESCRIPTION_LENGTH = 500;

/** A rental's direct tool, without the client that will call it; the same for every caller. */
export interface DirectToolDefinition {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
  readonly agentId: string;
  /** What each call charges, in lamports; absent where the listing could not be fetched. */
  readonly priceLamports?: number;
  readonly input: CompiledInput;
}

/** What is known of a rented listing; of one that could not be fetched, only what the credential says. */
export type RentedListing =
  | DescribedListing
  | Pick<Credential, 'listing_id' | 'listing_title' | 'rental_model'>;

/** Describes the direct tool of a rental. The same words and schema give the same definition. */
export async function defineDirectTool(rented: RentedListing): Promise<DirectToolDefinition> {
  return 'id' in rented ? madeOnce(rented, () => describeRental(rented)) : describeRental(rented);
}

async function describeRental(rented: RentedListing): Promise<DirectToolDefinition> {
  const known = 'id' in rented ? rented : undefined;
  const agentId = 'id' in rented ? rented.id : rented.listing_id;
  const title = creatorLine('id' in rented ? rented.title : rented.listing_title, TITLE_LENGTH);
  const input = compileInput(known?.input_schema);
  const words = known ? ` Its creator says: ${quoteCreator(known.description, DESCRIPTION_LENGTH)}` : '';
  return {
    name: await toolName(agentId),
    title: `Rented agent: ${title}`,
    // In every request of a model, once for each rental: as short as it can be said.
    description: `Rented agent ${quoteCreator(title, TITLE_LENGTH)}. ${costText(rented)}${words}`,
    inputSchema: directInputSchema(agentId, input),
    agentId,
    ...priceOf(rented),
    input,
  };
}

/** Binds a direct tool to the client that calls it. */
export function bindDirectTool(context: ToolContext, definition: DirectToolDefinition): RentedTool {
  const { name, title, description, inputSchema, agentId, input, priceLamports } = definition;
  return defineTool({
    name,
    title,
    description,
    inputSchema,
    agentId,
    annotations: RUN_ANNOTATIONS,
    spending: async () =>
      spendingOfRun(
        context.spending ? await context.spending.mostOfRun(agentId, priceLamports) : priceLamports,
      ),
    approvalOf: (_args, call) => approvalOfRun(context, agentId, call),
    stream: async function* (args, options = {}) {
      let run: RunTask;
      try {
        const given = argumentsObject(args);
        // The binding wins: whatever `agent_id` says, this tool runs this agent.
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
      return yield* runTask(context, run, options);
    },
  });
}

/** What a run at a price spends; the price may be unknown. */
export function spendingOfRun(lamports: number | undefined): ToolSpending {
  return { kind: 'run', ...(lamports === undefined ? {} : { lamports }) };
}

function priceOf(rented: RentedListing): Pick<DirectToolDefinition, 'priceLamports'> {
  if (rented.rental_model !== 'per_query') return { priceLamports: 0 };
  return 'price_lamports' in rented ? { priceLamports: rented.price_lamports } : {};
}

/** What is the same for all is there once: a list of hundreds is often kept. */
const TASK_SCHEMA = { type: 'string', description: 'What to do.' };
const REQUIRED = ['agent_id', 'task'];

function directInputSchema(agentId: string, input: CompiledInput): JsonObject {
  const { description } = input.schema;
  const about = "Creator's schema.";
  return {
    type: 'object',
    properties: {
      // An enum of one: `const` makes Gemini refuse the whole request.
      agent_id: { type: 'string', enum: [agentId] },
      task: TASK_SCHEMA,
      input: {
        ...input.schema,
        description: typeof description === 'string' ? `${about} ${description}` : about,
      },
      input_uri: INPUT_URI_SCHEMA,
    },
    required: REQUIRED,
  };
}

function costText(rented: RentedListing): string {
  if (rented.rental_model !== 'per_query') return 'Calls cost nothing beyond the rental.';
  const price = 'price_lamports' in rented ? solText(rented.price_lamports) : 'its price';
  return `Each call charges ${price}, also when it fails.`;
}
