import { NOT_IN_FORM } from '@agent-rental/agent-runner';
import type { Json } from '@agent-rental/contract';

/** How an agent's work ended. A failure's output is in words that the renter may see; its detail is for the creator. */
export type AgentOutcome =
  | { status: 'completed'; output: Json }
  | { status: 'failed'; output: string; detail?: string };

/**
 * What a renter is told of failures: the same of a declarative and of a connected agent, because which one it is cannot be
 * told.
 */
export const FAILED_TASK = 'The agent could not do the task.';
export const FAILED_FORM = `${NOT_IN_FORM}.`;

/** The agent could not be reached at all: not a run of the agent, and not the renter's to pay. */
export class AgentUnreachableError extends Error {
  override readonly name = 'AgentUnreachableError';
}
