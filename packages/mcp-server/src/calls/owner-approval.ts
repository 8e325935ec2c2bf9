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
 * Leads the client's user to the page where the owner of the wallet answers, in the way that the client declares. What the client
 * answers approves nothing: the page's answer alone does, because an API key would say yes to itself.
 *
 * @returns undefined where nothing is to be approved, the client was led there before, or it declares no way: then the result
 *   names the page
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
      message: `${reason}\nThe page shows what it is for; answer there.`,
      url,
    });
  }
  if (!modes.form) return undefined;
  return inputRequired.elicit({
    message: `${reason}\nOpen this page, which shows what it is for, and answer there: ${url}`,
    requestedSchema: {
      type: 'object',
      properties: { answered: { type: 'boolean', title: 'I have answered on that page' } },
    },
  });
}

/**
 * Waits until the owner has answered the question that the client was led to.
 *
 * @param mostMs how long at most
 * @returns how long it took
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
    // The next call tells the fault.
    signal.throwIfAborted();
  }
  return performance.now() - startedAt;
}
