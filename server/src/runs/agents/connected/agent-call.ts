import type { Task } from '../../task.js';
import type { ConnectedAnswer } from './connected-answer.js';

/** A connected agent's work on one task, for a renter or as a sample. */
export type ConnectedWork = Pick<Task, 'runId' | 'task' | 'input' | 'inputUri' | 'timeoutSeconds'> & {
  listing: { id: string; version: Pick<Task['listing']['version'], 'outputSchema'> };
};

/** The request of a task to a connected agent, in the form that the agent takes. */
export interface AgentCall {
  url: string;
  body: string;
  headers: Readonly<Record<string, string>>;
  /**
   * Reads the answer.
   *
   * @param onText gets free text as it comes
   * @throws the error that broke the connection; ResponseTooLargeError.
   */
  read(
    response: Response,
    outputSchema: Record<string, unknown>,
    onText: (delta: string) => void,
    signal: AbortSignal,
  ): Promise<ConnectedAnswer>;
}
