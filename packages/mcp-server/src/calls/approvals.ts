import { approvalText, type Approve, type RentedTool, type SpendingRequest } from '@agent-rental/tools';
import {
  acceptedContent,
  inputRequired,
  type InputRequest,
  type InputRequiredResult,
  type RequestStateCodec,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { createHash, randomUUID } from 'node:crypto';

/** The state of a question, which the client sends back with the answer. */
export interface AskedState {
  /** The call and the amounts of the question. */
  readonly asked: string;
  /** Names this one question. */
  readonly question: string;
  /** The question to the wallet's owner whose page the client has. */
  readonly ownerApproval?: string;
}

/** The step before a call may spend. */
type Approval =
  /** The user must be asked first. */
  | { readonly ask: InputRequiredResult }
  /** The call goes on; `approve` is absent if no approval is needed, or the client cannot ask. */
  | {
      readonly approve: Approve | undefined;
      /** Key of the answered call: a repeated answer is for the same run and the same payment. */
      readonly key?: string;
    };

/** The question about a spend. */
export function askFor(request: SpendingRequest): InputRequest {
  return inputRequired.elicit({
    message: approvalText(request),
    requestedSchema: {
      type: 'object',
      properties: { approve: { type: 'boolean', title: 'Spend it' } },
      required: ['approve'],
    },
  });
}

/** Whether the answer to {@link askFor} is a yes. @param answer of the client */
export function isYes(answer: unknown): boolean {
  return acceptedContent<{ approve?: unknown }>({ answer }, 'answer')?.approve === true;
}

/**
 * Asks the user by elicitation about a call above the policy's amount. The question is bound to the call and its amount, so
 * that its answer is valid for no other call.
 *
 * @param canAsk whether the client can ask its user.
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
  const carried = context.mcpReq.requestState<AskedState>();
  if (carried?.asked !== asked) {
    return {
      ask: inputRequired({
        inputRequests: {
          approve: askFor(request),
        },
        requestState: await codec.mint({ asked, question: randomUUID() }),
      }),
    };
  }
  const isApproved = isYes(context.mcpReq.inputResponses?.['approve']);
  return {
    // The call computes its spend again: the answer is valid up to the asked amount.
    approve: ({ kind, agentId, lamports, maxRunLamports = 0 }) =>
      isApproved &&
      kind === request.kind &&
      agentId === request.agentId &&
      lamports <= request.lamports &&
      maxRunLamports <= (request.maxRunLamports ?? 0),
    key: createHash('sha256').update(`answered ${carried.question}`).digest('hex'),
  };
}
