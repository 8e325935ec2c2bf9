import { RENTAL_TERMS, type Json, type JsonObject, type Listing } from '@agent-rental/contract';
import { isApiError, type CallOptions } from '@agent-rental/sdk';
import { creatorLine } from '../../text/creator-text.js';
import { compileInput } from '../../schema/compile-input.js';
import { quoteSettledRental } from '../../renting/pay-rental.js';
import type { QuotedPayment, RentalQuote } from '../../renting/rental-quote.js';
import type { ToolContext } from '../../definitions/tool-context.js';
import { findAgents } from './find-agents.js';
import { misfitOf, type GivenInput } from './fits-input.js';

/** Number of found agents that `hire` examines: each costs two requests. */
const MOST_CANDIDATES = 5;

/** The task and its budget. */
export interface HireRequest {
  readonly task: string;
  readonly input: GivenInput;
  readonly query: string | undefined;
  /** The agent, if the caller names one. */
  readonly agentId: string | undefined;
  readonly budgetLamports: bigint;
}

/** An agent that can do the task within the budget. */
export interface ChosenAgent {
  readonly quote: RentalQuote;
  /** The input in this agent's form. */
  readonly input: GivenInput;
  /** Lamports that one run draws from the balance. */
  readonly runLamports: number;
  /** Lamports that the budget must cover: the payment from the wallet, and the run's draw from an earlier deposit. */
  readonly neededLamports: bigint;
}

/** An examined agent that was not chosen, and the reason. */
interface PassedOver {
  readonly agentId: string;
  readonly title: string;
  readonly reason: string;
  /** The creator's schema, if the input was wrong. */
  readonly inputSchema?: JsonObject;
}

/** The agents found for a task. */
export interface Choice {
  readonly chosen: ChosenAgent | undefined;
  readonly passedOver: readonly PassedOver[];
  /** The words of the search; absent if the caller named the agent. */
  readonly words?: string;
}

/**
 * Chooses the most likely agent that takes the input and stays within the budget.
 *
 * @throws ApiError or ConnectionError
 */
export async function chooseAgent(
  context: ToolContext,
  request: HireRequest,
  call: CallOptions,
): Promise<Choice> {
  const { client } = context;
  const found =
    request.agentId === undefined
      ? await findAgents(client, request.task, request.query, call)
      : { listings: [{ id: request.agentId }], words: undefined };
  const ids = found.listings.slice(0, MOST_CANDIDATES).map(({ id }) => id);
  const judged = await Promise.all(ids.map((id) => judge(context, id, request, call)));
  return {
    chosen: judged.find((one) => 'neededLamports' in one),
    passedOver: judged.filter((one) => 'reason' in one),
    ...(found.words === undefined ? {} : { words: found.words }),
  };
}

async function judge(
  context: ToolContext,
  agentId: string,
  { input: given, budgetLamports }: HireRequest,
  call: CallOptions,
): Promise<ChosenAgent | PassedOver> {
  let quote: RentalQuote;
  try {
    quote = await quoteSettledRental(context, agentId, {}, call);
  } catch (error) {
    call.signal?.throwIfAborted();
    if (!isApiError(error) || error.status >= 500 || error.status === 401) throw error;
    return { agentId, title: agentId, reason: creatorLine(error.reason, 200) };
  }
  const { listing, payment } = quote;
  const title = creatorLine(listing.title, 80);
  const input = given === undefined ? undefined : (compileInput(listing.input_schema).read(given) as Json);
  const misfit = misfitOf(listing.input_schema, input);
  if (misfit !== undefined) {
    return { agentId, title, reason: misfit, inputSchema: listing.input_schema };
  }
  const runLamports = await runLamportsOf(context, quote);
  const neededLamports = neededFor(payment, runLamports);
  if (neededLamports > budgetLamports) {
    return { agentId, title, reason: `needs ${neededLamports} lamports, which is above the budget` };
  }
  return { quote, input, runLamports, neededLamports };
}

/** The most that one run draws from the balance: from the transaction to be paid, or from the rental. */
async function runLamportsOf({ spending }: ToolContext, { listing, payment }: RentalQuote): Promise<number> {
  if (payment !== undefined) return payment.quote.max_run_lamports ?? 0;
  const told = RENTAL_TERMS[listing.rental_model].chargesRuns ? listing.price_lamports : 0;
  return (await spending?.mostOfRun(listing.id, told)) ?? told;
}

/** Lamports that the budget must cover: the payment from the wallet, and the run's draw beyond its deposit. */
function neededFor(payment: QuotedPayment | undefined, runLamports: number): bigint {
  if (payment === undefined) return BigInt(runLamports);
  const { total_lamports: total, price_lamports: prepaid, max_run_lamports: perRun } = payment.quote;
  const beyond = perRun === undefined ? 0 : Math.max(runLamports - prepaid, 0);
  return BigInt(total) + BigInt(beyond);
}

/** The facts about an agent in an answer. */
export function agentFacts(listing: Listing): JsonObject {
  const { rating, review_count, run_count, success_rate, rental_model } = listing;
  return {
    agent_id: listing.id,
    title: creatorLine(listing.title, 120),
    description: creatorLine(listing.description, 280),
    rental_model,
    rating,
    review_count,
    run_count,
    success_rate,
    ...(listing.unverified_since === undefined ? {} : { unverified_since: listing.unverified_since }),
  };
}
