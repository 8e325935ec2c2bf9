import type { RentedTool, ToolResult } from '@agent-rental/tools';
import type { CallToolResult } from '@modelcontextprotocol/server';
import type { CallPayments } from '../rental-server-options.js';

/** Refusals that a payment for the call helps. */
const isUnpaid = ({ error }: ToolResult): boolean =>
  error?.code === 'credential_not_found' || error?.status === 402;

/**
 * Adds the receipts of a paid call to its answer, and an offer to the refusal of an agent that is not rented. Clients that do
 * not pay ignore both. The text of the refusal stays, also as x402's `error`, because some hosts show only structured content.
 */
export async function withPayments(
  answer: CallToolResult,
  call: { result: ToolResult; tool: RentedTool; args: unknown; payments: CallPayments | undefined },
): Promise<CallToolResult> {
  const { result, tool, args, payments } = call;
  if (!payments) return answer;
  const { _meta: before } = answer;
  const withMeta = (meta: Record<string, unknown>): CallToolResult =>
    Object.keys(meta).length === 0 ? answer : { ...answer, _meta: { ...before, ...meta } };
  const { agent_id: agentId } = Object(args) as { agent_id?: unknown };
  if (tool.name !== 'run_agent' || typeof agentId !== 'string' || !isUnpaid(result))
    return withMeta(payments.receipts());
  const offer = await payments.offer(agentId.trim()).catch(() => undefined);
  if (!offer) return answer;
  return {
    ...withMeta(offer.meta),
    ...(offer.structured ? { structuredContent: { ...offer.structured, error: result.text } } : {}),
  };
}
