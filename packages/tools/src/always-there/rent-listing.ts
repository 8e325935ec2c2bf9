import type { JsonObject } from '@agent-rental/contract';
import { isApiError, type CallOptions } from '@agent-rental/sdk';
import { creatorLine, MARKETPLACE_MARK } from '../text/creator-text.js';
import { resultOfError } from '../definitions/error-result.js';
import type { RentedTool, ToolAnnotations, ToolCallOptions, ToolResult } from '../definitions/rented-tool.js';
import { payRental, quoteSettledRental, spendingOfRental } from '../renting/pay-rental.js';
import { priceFacts, quoteRental, type RentalQuote, type RentalTerms } from '../renting/rental-quote.js';
import { rentOffer } from '../renting/rent-offer.js';
import {
  argumentsObject,
  BadArgumentsError,
  flagArgument,
  numberArgument,
  textArgument,
} from '../runs/run-arguments.js';
import type { ToolContext } from '../definitions/tool-context.js';
import { toolName } from '../definitions/tool-name.js';
import { checkedTool } from '../runs/checked-tool.js';
import { agentIdArgument } from './agent-id.js';
import { answer, objectResult } from './answer.js';

/** Hints of a tool that spends money. An active rental is not paid twice. */
export const PAYING: ToolAnnotations = {
  readOnlyHint: false,
  destructiveHint: true,
  idempotentHint: true,
  openWorldHint: true,
};

const DAY_SECONDS = 86_400;

/**
 * `rent_listing`: rents an agent, renews an ended subscription, or tops up a low balance. With a wallet it pays within the
 * policy. Without one it returns a payment page, and on request the transaction to sign.
 */
export function rentListingTool(context: ToolContext): RentedTool {
  const pays = context.wallet !== undefined;
  return checkedTool({
    name: 'rent_listing',
    title: 'Rent an agent',
    description:
      `Rents an agent for this wallet${pays ? ', and pays for it within the limits of its owner' : ''}. ` +
      'Rentals are final: there are no refunds. A rented agent is not paid again. An ended subscription is renewed, and ' +
      'a low prepaid balance is topped up. ' +
      (pays
        ? 'The agent can be used at once with run_agent.'
        : 'Answers with the price and a rent_url where its owner pays. Then the agent works with run_agent at once.'),
    inputSchema: {
      type: 'object',
      properties: {
        agent_id: { type: 'string', description: 'Id of the agent, from search_listings.' },
        deposit_lamports: {
          type: 'integer',
          minimum: 0,
          description: 'For a per_query agent: the prepaid amount. Default: its least deposit.',
        },
        duration_days: {
          type: 'integer',
          description: 'For a subscription: 30, 90 or 365. Default 30.',
        },
        transaction: {
          type: 'boolean',
          description: 'true: do not pay, return the transaction for another wallet tool to sign.',
        },
        signed_transaction: {
          type: 'string',
          description: 'The signed transaction in base64. It is sent and completes the rental. Never a key.',
        },
      },
      required: ['agent_id'],
    },
    annotations: PAYING,
    approvalOf: async (args, call = {}) => {
      const { wallet, spending } = context;
      if (wallet === undefined || spending === undefined) return undefined;
      const asked = askedFor(argumentsObject(args));
      if (asked.transaction || asked.signed !== undefined) return undefined;
      const quote = await quoteRental(context, asked.agentId, asked.terms, call);
      if (quote.payment === undefined) return undefined;
      const request = spendingOfRental(quote, quote.payment);
      return spending.asks(BigInt(request.lamports)) ? request : undefined;
    },
    stream: (args, options = {}) =>
      answer(args, options, async (given, call) => rentListing(context, askedFor(given), call, options)),
  });
}

interface AskedRental {
  readonly agentId: string;
  readonly terms: RentalTerms;
  readonly transaction: boolean;
  readonly signed: string | undefined;
}

async function rentListing(
  context: ToolContext,
  { agentId, terms, transaction, signed }: AskedRental,
  call: CallOptions,
  options: ToolCallOptions,
): Promise<ToolResult> {
  if (signed !== undefined) {
    const paid = await context.client.submitTransaction(signed, call);
    if (paid.listing_id !== undefined) context.onRented?.(paid.listing_id);
    return rented(paid.listing_id ?? agentId, { signature: paid.signature });
  }
  try {
    const quote = await quoteSettledRental(context, agentId, terms, call);
    if (quote.payment === undefined) return await rentedAlready(quote);
    if (context.wallet === undefined || transaction) {
      return objectResult(rentOffer(context, quote, quote.payment, { transaction }));
    }
    const paid = await payRental(context, context.wallet, quote, quote.payment, { ...options, ...call });
    if (paid === undefined) return await rentedAlready(quote);
    return await rented(agentId, { paid: priceFacts(quote.payment), signature: paid.signature });
  } catch (error) {
    call.signal?.throwIfAborted();
    return rentalError(error, context.unsettled.has(agentId));
  }
}

/** Returns the result for a rented agent: how to call it, and the payment. */
async function rented(agentId: string, facts: JsonObject): Promise<ToolResult> {
  return objectResult({
    agent_id: agentId,
    rented: true,
    ...facts,
    next: `Run it with run_agent {"agent_id": "${agentId}", "task": "..."}; get_listing shows its input_schema.`,
    tool_name: await toolName(agentId),
  });
}

async function rentedAlready({ listing, credential }: RentalQuote): Promise<ToolResult> {
  const { balance_lamports } = credential;
  return rented(listing.id, {
    paid: { total_lamports: 0 },
    already: true,
    ...(balance_lamports === undefined ? {} : { balance_lamports }),
  });
}

/**
 * Returns the result of a failed rental.
 *
 * @param isUnsettled whether the outcome of a sent payment is unknown
 * @param tool the tool to call again
 */
export function rentalError(error: unknown, isUnsettled: boolean, tool = 'rent_listing'): ToolResult {
  if (isUnsettled) {
    const code = isApiError(error) ? error.code : 'connection_error';
    const message = creatorLine(reasonOf(error), 300);
    return {
      ...resultOfError(error),
      text:
        `${MARKETPLACE_MARK} ${code}: ${message} Whether the rental was paid is not known. ` +
        `Call ${tool} again with the same arguments: it does not pay twice.`,
    };
  }
  if (isApiError(error) && error.code === 'invalid_request') {
    return {
      ...resultOfError(error),
      text: `${MARKETPLACE_MARK} invalid_request: ${creatorLine(error.reason, 600)} Nothing was paid. get_listing shows the price and whether the agent is rented; correct the arguments and call ${tool} again.`,
    };
  }
  return resultOfError(error);
}

/** The reason in an error. */
function reasonOf(error: unknown): string {
  if (isApiError(error)) return error.reason;
  return error instanceof Error ? error.message : '';
}

function askedFor(given: Record<string, unknown>): AskedRental {
  const days = numberArgument(given, 'duration_days');
  if (days !== undefined && days !== 30 && days !== 90 && days !== 365) {
    throw new BadArgumentsError('"duration_days" is 30, 90 or 365.');
  }
  const deposit = numberArgument(given, 'deposit_lamports');
  if (deposit !== undefined && (!Number.isSafeInteger(deposit) || deposit < 0)) {
    throw new BadArgumentsError('"deposit_lamports" is a whole number of lamports (1 SOL = 1000000000).');
  }
  return {
    agentId: agentIdArgument(given),
    terms: {
      depositLamports: deposit,
      durationSeconds:
        days === undefined ? undefined : ((days * DAY_SECONDS) as RentalTerms['durationSeconds']),
    },
    transaction: flagArgument(given, 'transaction'),
    signed: textArgument(given, 'signed_transaction')?.trim(),
  };
}
