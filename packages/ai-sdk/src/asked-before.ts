import type { QuestionLedger, SpendingRequest } from '@agent-rental/tools';

/**
 * Keeps a question of the AI SDK to a person, with its amounts, in the ledger. The SDK calls the tool only after a yes, but
 * does not pass the question to the call. The call may spend exactly the kept amounts.
 */
export async function keepAsked(
  questions: QuestionLedger,
  toolCallId: string,
  request: SpendingRequest,
): Promise<void> {
  const id = idOf(toolCallId, request);
  // The call itself proves the person's yes.
  if ((await questions.open(id)) === 'opened') await questions.close(id, 'yes');
}

/** Whether a person was recently asked about exactly this spend for this call. */
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
