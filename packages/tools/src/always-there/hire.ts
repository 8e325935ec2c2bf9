import type { JsonObject, SignedReceipt } from '@agent-rental/contract';
import { type CallOptions, createDeadline } from '@agent-rental/sdk';
import { cleanJson, MARKETPLACE_MARK } from '../text/creator-text.js';
import { resultOfBadArguments, resultOfError } from '../definitions/error-result.js';
import { checkedTool } from '../runs/checked-tool.js';
import { agentFacts, chooseAgent, type ChosenAgent, type HireRequest } from './hire/choose-agent.js';
import { lamportsOfSol, lamportsText } from '../text/lamports-text.js';
import { compileInput } from '../schema/compile-input.js';
import type { RentedTool, ToolCallOptions, ToolResult } from '../definitions/rented-tool.js';
import { payRental, spendingOfRental } from '../renting/pay-rental.js';
import { rentOffer } from '../renting/rent-offer.js';
import { priceFacts } from '../renting/rental-quote.js';
import {
  argumentsObject,
  BadArgumentsError,
  flagArgument,
  inputArgument,
  numberArgument,
  runOptions,
  taskArgument,
  textArgument,
} from '../runs/run-arguments.js';
import { runTask } from '../runs/run-task.js';
import type { ToolContext } from '../definitions/tool-context.js';
import { objectResult } from './answer.js';
import { PAYING, rentalError } from './rent-listing.js';

/** Longest wait for a receipt. After it, the answer is returned without a receipt. */
const RECEIPT_TIMEOUT_MS = 5_000;

/**
 * `hire`: from a task to its answer in one call. Finds an agent, quotes, rents within policy and budget, runs, and returns
 * the answer with its receipt. With `dry_run` it only quotes.
 */
export function hireTool(context: ToolContext): RentedTool {
  const pays = context.wallet !== undefined;
  return checkedTool({
    name: 'hire',
    title: 'Hire an agent for a task',
    description:
      'Finds an agent for a task, rents it if need be, runs it and returns its answer, in one call. ' +
      (pays
        ? 'Pays within the budget and the limits of the owner of this wallet. '
        : 'Uses rented agents; for others it answers with a rent_url where the owner pays. ') +
      'dry_run: true only shows the chosen agent and its cost, and spends nothing.',
    inputSchema: {
      type: 'object',
      properties: {
        task: { type: 'string', description: 'The task in plain language.' },
        input: { type: 'object', description: 'Input of the task. For a text: {"text": "..."}.' },
        budget_sol: {
          type: 'number',
          minimum: 0,
          description: 'The highest cost of this call in SOL, with rental, deposit and fees.',
        },
        dry_run: { type: 'boolean' },
        query: { type: 'string', description: 'Words to search for. Default: the words of the task.' },
        agent_id: { type: 'string', description: 'The agent, if known.' },
      },
      required: ['task', 'budget_sol'],
    },
    annotations: PAYING,
    approvalOf: async (args, call = {}) => {
      const { wallet, spending } = context;
      const given = argumentsObject(args);
      if (wallet === undefined || spending === undefined || flagArgument(given, 'dry_run')) return undefined;
      const { chosen } = await chooseAgent(context, hireRequest(given), call);
      const { payment } = chosen?.quote ?? {};
      if (chosen === undefined || payment === undefined) return undefined;
      const request = spendingOfRental(chosen.quote, payment);
      return spending.asks(BigInt(request.lamports)) ? request : undefined;
    },
    stream: async function* (args, options = {}) {
      const call: CallOptions = { signal: options.signal };
      let request: HireRequest;
      let own: ToolCallOptions;
      let hired: Hired | ToolResult;
      try {
        const given = argumentsObject(args);
        own = runOptions(given, options);
        request = hireRequest(given);
        hired = await engage(context, request, flagArgument(given, 'dry_run'), call, options);
      } catch (error) {
        options.signal?.throwIfAborted();
        return error instanceof BadArgumentsError
          ? resultOfBadArguments(error.message)
          : resultOfError(error);
      }
      if ('status' in hired) return hired;
      const { quote, input } = hired.agent;
      const run = { agentId: quote.listing.id, task: request.task, ...inputArgument(input) };
      const result = yield* runTask(context, run, own);
      return withReceipt(context, result, hired, call);
    },
  });
}

/** A rented agent. */
interface Hired {
  readonly agent: ChosenAgent;
  /** Lamports that left the wallet. */
  readonly paidLamports: number;
}

/** Finds and rents an agent. Returns a result if no agent can run. */
async function engage(
  context: ToolContext,
  request: HireRequest,
  dryRun: boolean,
  call: CallOptions,
  options: ToolCallOptions,
): Promise<Hired | ToolResult> {
  const choice = await chooseAgent(context, request, call);
  const { chosen, passedOver, words } = choice;
  const looked: JsonObject = {
    ...(words === undefined ? {} : { searched_for: words }),
    passed_over: passedOver.map(({ agentId, title, reason, inputSchema }) => ({
      agent_id: agentId,
      title,
      reason,
      ...(inputSchema === undefined ? {} : { input_schema: shownSchema(inputSchema) }),
    })),
  };
  if (chosen === undefined) {
    return objectResult({
      hired: false,
      reason:
        passedOver.length === 0
          ? 'No agent was found. Try other words as query, or search_listings.'
          : 'No agent that was found takes this input within the budget. Nothing was paid.',
      ...looked,
    });
  }
  const { quote, runLamports } = chosen;
  const { listing, payment } = quote;
  if (dryRun) {
    return objectResult({
      hired: false,
      dry_run: true,
      would_hire: agentFacts(listing),
      rented_already: payment === undefined,
      ...(payment === undefined ? {} : { price: priceFacts(payment) }),
      per_run_lamports: runLamports,
      needed_lamports: Number(chosen.neededLamports),
      ...looked,
    });
  }
  if (payment === undefined) return { agent: chosen, paidLamports: 0 };
  if (context.wallet === undefined) {
    return objectResult({ hired: false, ...rentOffer(context, quote, payment), ...looked });
  }
  try {
    const paid = await payRental(context, context.wallet, quote, payment, { ...options, ...call });
    return { agent: chosen, paidLamports: paid === undefined ? 0 : payment.quote.total_lamports };
  } catch (error) {
    options.signal?.throwIfAborted();
    return rentalError(error, context.unsettled.has(listing.id), 'hire');
  }
}

/** The run's result with its receipt, and one line about the hired agent and the payment. */
async function withReceipt(
  { client }: ToolContext,
  result: ToolResult,
  { agent, paidLamports }: Hired,
  { signal }: CallOptions,
): Promise<ToolResult> {
  const { id } = agent.quote.listing;
  const paid =
    paidLamports > 0
      ? `${id} was rented for ${lamportsText(paidLamports)}, which is final: use it again with run_agent.`
      : `${id} was rented already.`;
  const noted = { ...result, note: [result.note ?? MARKETPLACE_MARK, paid].join(' ') };
  if (result.runId === undefined) return noted;
  const receipt = await receiptOf(client, result.runId, signal);
  return receipt === undefined ? noted : { ...noted, receipt };
}

async function receiptOf(
  client: ToolContext['client'],
  runId: string,
  signal: AbortSignal | undefined,
): Promise<SignedReceipt | undefined> {
  const deadline = createDeadline(RECEIPT_TIMEOUT_MS, signal);
  try {
    return await client.getReceipt(runId, { signal: deadline.signal });
  } catch {
    return undefined;
  } finally {
    deadline.clear();
  }
}

function shownSchema(schema: JsonObject): JsonObject {
  const cleaned = cleanJson(schema, 300) as JsonObject;
  return JSON.stringify(cleaned).length <= 4_000 ? cleaned : compileInput(schema).schema;
}

function hireRequest(given: Record<string, unknown>): HireRequest {
  const sol = numberArgument(given, 'budget_sol');
  const budgetLamports = sol === undefined ? undefined : lamportsOfSol(sol);
  if (budgetLamports === undefined) {
    throw new BadArgumentsError(
      '"budget_sol" is missing: the most that this may cost, in SOL, for instance 0.05.',
    );
  }
  return {
    task: taskArgument(given),
    input: inputArgument(given['input']).input,
    query: textArgument(given, 'query'),
    agentId: textArgument(given, 'agent_id')?.trim(),
    budgetLamports,
  };
}
