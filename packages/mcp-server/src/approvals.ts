import type { Approve, RentedTool, SpendingRequest } from '@agent-rental/tools';
import {
  acceptedContent,
  inputRequired,
  type InputRequiredResult,
  type RequestStateCodec,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { createHash } from 'node:crypto';

/** What was asked, as the client carries it to the round of its answer. */
export interface AskedState {
  readonly asked: string;
}

/** What has to happen before a call may spend. */
export type Approval =
  /** The user has to be asked first. */
  | { readonly ask: InputRequiredResult }
  /** Goes on; `approve` is absent where nothing is to be approved, or nobody can be asked. */
  | { readonly approve: Approve | undefined };

/**
 * Whether a call that spends more than the policy lets pass may go on: the user is asked by elicitation. The question is
 * bound to the call and its amount, so that an answer to one is none to another.
 *
 * @param canAsk whether the client can put questions to its user.
 */
export async function approvalOf(
  { tool, args, canAsk }: { tool: RentedTool; args: unknown; canAsk: boolean },
  context: ServerContext,
  codec: RequestStateCodec<AskedState>,
): Promise<Approval> {
  const { signal } = context.mcpReq;
  const request = canAsk ? await tool.approvalOf?.(args, { signal }).catch(() => undefined) : undefined;
  if (request === undefined) return { approve: undefined };
  const asked = createHash('sha256')
    .update(JSON.stringify([tool.name, args, request]))
    .digest('base64url');
  if (context.mcpReq.requestState<AskedState>()?.asked !== asked) {
    return {
      ask: inputRequired({
        inputRequests: {
          approve: inputRequired.elicit({
            message: questionOf(request),
            requestedSchema: {
              type: 'object',
              properties: { approve: { type: 'boolean', title: 'Spend it' } },
              required: ['approve'],
            },
          }),
        },
        requestState: await codec.mint({ asked }),
      }),
    };
  }
  const answer = acceptedContent<{ approve?: unknown }>(context.mcpReq.inputResponses, 'approve');
  const isYes = answer?.approve === true;
  return { approve: ({ lamports }) => isYes && lamports <= request.lamports };
}

function questionOf({ kind, title, agentId, lamports }: SpendingRequest): string {
  const sol = lamports / 1_000_000_000;
  const what = kind === 'rental' ? 'Rent' : 'Run';
  return `${what} the agent "${title}" (${agentId}) for ${sol} SOL?`;
}
