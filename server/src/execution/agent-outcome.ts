import type { Json } from '@agent-rental/contract';

/** How an agent's work ended. A failure's output is in words that the renter may see. */
export type AgentOutcome = { status: 'completed'; output: Json } | { status: 'failed'; output: string };

/** The agent could not be reached at all: not a run of the agent, and not the renter's to pay. */
export class AgentUnreachableError extends Error {
  override readonly name = 'AgentUnreachableError';
}
