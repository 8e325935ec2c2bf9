import type { QuestionLedger, SpendingRequest } from '@agent-rental/tools';

/**
 * What the AI SDK asks a person before it calls a tool: it calls the tool only after a yes, and does not say again what
 * for. So the question is kept with its amounts, in the ledger, and the call may spend exactly those.
 */
export async function keepAsked(
  questions: QuestionLedger,
  toolCallId: string,
  request: SpendingRequest,
): Promise<void> {
  const id = idOf(toolCallId, request);
  // That the person said yes is what the call itself says.
  if ((await questions.open(id)) === 'opened') await questions.close(id, 'yes');
}

/** Whether a person was asked about exactly this for this call, not long ago. */
export async function wasAsked(
  questions: QuestionLedger,
  toolCallId: string,
  request: SpendingRequest,
): Promise<boolean> {
  const id = idOf(toolCallId, request);
  const state = await questions.open(id);
  if (state === 'opened') await questions.close(id, undefined);
  return state === 'yes';
}

function idOf(toolCallId: string, { kind, agentId, lamports, maxRunLamports }: SpendingRequest): string {
  return `asked before ${JSON.stringify([toolCallId, kind, agentId, lamports, maxRunLamports])}`;
}
