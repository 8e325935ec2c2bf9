import { ApiError, type CallOptions } from '@agent-rental/sdk';
import { creatorLine } from '../text/creator-text.js';
import type { ToolCallOptions, ToolResult } from '../definitions/rented-tool.js';
import type { SpendingRequest } from '../spending/policy.js';
import type { Reservation } from '../spending/spending.js';
import type { ToolContext } from '../definitions/tool-context.js';

/** A run's price, reserved. */
export interface RunReservation extends Reservation {
  readonly lamports: bigint;
}

/**
 * Reserves a run's price, if there is a policy and the run has a price.
 *
 * @throws SpendingRefusedError, ApprovalRequiredError; ApiError `service_unavailable` if the price is unknown
 */
export async function reserveRun(
  context: ToolContext,
  agentId: string,
  key: string,
  options: ToolCallOptions,
): Promise<RunReservation | undefined> {
  const { spending } = context;
  if (spending === undefined) return undefined;
  const request = await requestOfRun(context, agentId, options);
  if (request === undefined) return undefined;
  const { signal, approve = context.approve } = options;
  const reservation = await spending.reserve(`run ${key}`, request, { approve, signal });
  return { ...reservation, lamports: BigInt(request.lamports) };
}

/** The spend of a run that needs approval. */
export async function approvalOfRun(
  context: ToolContext,
  agentId: string,
  call: CallOptions = {},
): Promise<SpendingRequest | undefined> {
  if (context.spending === undefined) return undefined;
  const request = await requestOfRun(context, agentId, call).catch(() => undefined);
  return request && context.spending.asks(BigInt(request.lamports)) ? request : undefined;
}

/** The counted charge of a call: nothing after a refusal, the whole price if the charge is unknown. */
export function chargeOf(result: ToolResult, reserved: bigint): bigint {
  if (result.costLamports !== undefined) return BigInt(result.costLamports);
  const status = result.runId === undefined ? result.error?.status : undefined;
  return status !== undefined && status < 500 ? 0n : reserved;
}

/** Undefined for an unknown agent: the service reports it. */
async function requestOfRun(
  { client, cache, spending }: ToolContext,
  agentId: string,
  call: CallOptions,
): Promise<SpendingRequest | undefined> {
  const credential = { listing_id: agentId, listing_title: agentId, rental_model: 'per_query' as const };
  const definition = await cache.definition(client, credential, call.signal);
  if (definition === undefined) return undefined;
  const lamports = await spending?.mostOfRun(agentId, definition.priceLamports);
  if (lamports === undefined) {
    throw new ApiError({
      code: 'service_unavailable',
      status: 503,
      message: 'The spending policy needs the price of the run, which cannot be read now.',
    });
  }
  const title = creatorLine(definition.title, 100);
  return { kind: 'run', agentId, title, lamports };
}
