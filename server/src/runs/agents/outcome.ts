import { NOT_IN_FORM } from '@agent-rental/agent-runner';
import type { Json } from '@agent-rental/contract';

/** How an agent's work ended. A failure's output is in words that the renter may see; its detail is for the creator. */
export type AgentOutcome =
  | { status: 'completed'; output: Json }
  | { status: 'failed'; output: string; detail?: string };

/**
 * Failure texts for renters. They are the same for declarative and connected agents, so that a renter cannot tell which one
 * an agent is.
 */
export const FAILED_TASK = 'The agent could not do the task.';
export const FAILED_FORM = `${NOT_IN_FORM}.`;

/** The agent was never reached: the run is not charged. */
export class AgentUnreachableError extends Error {
  override readonly name = 'AgentUnreachableError';
}
