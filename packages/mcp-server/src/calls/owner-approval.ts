import type { RentalClient } from '@agent-rental/sdk';
import type { OwnerApproval, ToolResult } from '@agent-rental/tools';
import {
  inputRequired,
  type InputRequest,
  type InputRequiredResult,
  type RequestStateCodec,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { randomUUID } from 'node:crypto';
import type { AskedState } from './approvals.js';
import type { ElicitationModes } from './elicitation-modes.js';

/** The name of the question among a call's questions. */
const NAME = 'owner_approval';

/**
 * Leads the client's user to the page where the wallet's owner answers, in the client's declared mode. The client's answer
 * approves nothing. Only the page's answer does, because an API key could approve its own call.
 *
 * @returns undefined if no approval is needed, the client was led there before, or it declares no mode. In the last case the
 *   result names the page
 */
export async function askOwner(
  { error }: ToolResult,
  modes: ElicitationModes,
  context: ServerContext,
  codec: RequestStateCodec<AskedState>,
): Promise<InputRequiredResult | undefined> {
  const approval = error?.ownerApproval;
  const carried = context.mcpReq.requestState<AskedState>();
  if (approval === undefined || carried?.ownerApproval === approval.id) return undefined;
  const request = requestFor(approval, modes);
  if (request === undefined) return undefined;
  const { asked = '', question = randomUUID() } = carried ?? {};
  return inputRequired({
    inputRequests: { [NAME]: request },
    requestState: await codec.mint({ asked, question, ownerApproval: approval.id }),
  });
}

function requestFor({ url, reason }: OwnerApproval, modes: ElicitationModes): InputRequest | undefined {
  if (modes.url) {
    return inputRequired.elicitUrl({
      message: `${reason}\nThe page shows the spend; answer there.`,
      url,
    });
  }
  if (!modes.form) return undefined;
  return inputRequired.elicit({
    message: `${reason}\nOpen this page, which shows the spend, and answer there: ${url}`,
    requestedSchema: {
      type: 'object',
      properties: { answered: { type: 'boolean', title: 'I have answered on that page' } },
    },
  });
}

/**
 * Waits until the owner has answered on the page.
 *
 * @param mostMs longest wait in milliseconds
 * @returns the waited milliseconds
 */
export async function waitForOwner(
  client: RentalClient,
  { mcpReq }: ServerContext,
  mostMs: number,
  signal: AbortSignal,
): Promise<number> {
  const id = mcpReq.requestState<AskedState>()?.ownerApproval;
  const answer = mcpReq.inputResponses?.[NAME] as { action?: unknown } | undefined;
  if (id === undefined || answer?.action !== 'accept') return 0;
  const startedAt = performance.now();
  try {
    await client.getApproval(id, { waitSeconds: Math.floor(mostMs / 1_000), signal });
  } catch {
    // The next call reports the fault.
    signal.throwIfAborted();
  }
  return performance.now() - startedAt;
}
