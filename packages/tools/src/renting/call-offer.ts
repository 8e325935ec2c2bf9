import { RENTAL_TERMS } from '@agent-rental/contract';
import { createDeadline } from '@agent-rental/sdk';
import type { ToolCallOptions, ToolResult } from '../definitions/rented-tool.js';
import type { ToolContext } from '../definitions/tool-context.js';
import { lamportsText } from '../text/lamports-text.js';

/** The refusal is useful without the offer, so it does not wait long for it. */
const FETCH_TIMEOUT_MS = 5_000;

/**
 * Adds the other way to pay to the refusal of an agent that is not rented: a Per-Task agent's call may be paid for alone. Any
 * other result stays.
 */
export async function withCallOffer(
  { client, publicUrl }: ToolContext,
  agentId: string,
  result: ToolResult,
  { signal }: Pick<ToolCallOptions, 'signal'>,
): Promise<ToolResult> {
  const { error } = result;
  if (error?.code !== 'credential_not_found') return result;
  const deadline = createDeadline(FETCH_TIMEOUT_MS, signal);
  try {
    const listing = await client.getListing(agentId, { signal: deadline.signal });
    const { isSoldByCall } = RENTAL_TERMS[listing.rental_model];
    if (!isSoldByCall || listing.status !== 'active') return result;
    const payPerCall = { url: `${publicUrl}/v1/execute`, priceLamports: listing.price_lamports };
    const offer =
      `Or pay for this call alone: POST ${payPerCall.url} without an API key answers HTTP 402 with the amount. ` +
      `A run costs ${lamportsText(payPerCall.priceLamports)}; a first payment also has the deposit and the rent.`;
    return { ...result, text: `${result.text} ${offer}`, error: { ...error, payPerCall } };
  } catch {
    signal?.throwIfAborted();
    return result;
  } finally {
    deadline.clear();
  }
}
