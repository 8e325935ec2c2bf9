import { NOT_IN_FORM } from '@agent-rental/agent-runner';
import { TOO_LARGE, type Json, type RunFailureClass } from '@agent-rental/contract';
import { SandboxFaultError, SandboxUnavailableError } from '@agent-rental/sandbox';

/** Why a run failed, as its creator is told: nothing of its input or output. */
export interface FailureCause {
  class: RunFailureClass;
  /** The status of the vendor's or the endpoint's answer. */
  httpStatus?: number | undefined;
}

/**
 * How an agent's work ended. The renter may see a failure's output. Its detail is for the creator in the review, which
 * runs on the creator's input. Its cause is for the creator in every run.
 */
export type AgentOutcome =
  | { status: 'completed'; output: Json }
  | { status: 'failed'; output: string; detail?: string; cause: FailureCause };

/**
 * Failure texts for renters. They are the same for declarative and connected agents, so that a renter cannot tell which one
 * an agent is.
 */
export const FAILED_TASK = 'The agent could not do the task.';
export const FAILED_SIZE = `The output ${TOO_LARGE}.`;
export const FAILED_FORM = `${NOT_IN_FORM}.`;

/** Whether sandboxes failed, and not the agent. Its run is made good, also where a part of its output has left. */
export function isOfSandbox(error: unknown): error is SandboxFaultError | SandboxUnavailableError {
  return error instanceof SandboxFaultError || error instanceof SandboxUnavailableError;
}

/** The agent was never reached: the run is not charged. */
export class AgentUnreachableError extends Error {
  override readonly name = 'AgentUnreachableError';
  readonly failure: FailureCause;

  constructor(message: string, failure: FailureCause, options?: ErrorOptions) {
    super(message, options);
    this.failure = failure;
  }
}
