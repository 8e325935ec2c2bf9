import { isApiError } from '@agent-rental/sdk';
import { A2AError, ContentTypeNotSupportedError, TaskNotFoundError } from '@a2a-js/sdk/errors';
import { malformed } from './read-message.js';

/** The refusal of a task that does not exist, or that this caller does not see. */
export function noSuchTask(id: string): TaskNotFoundError {
  return new TaskNotFoundError({ message: `There is no task ${id.slice(0, 100)} of this caller.` });
}

/** An error of the API in the protocol's words. The input schema of an agent decides which files it takes. */
export function toProtocolError(error: unknown, hasFileAsInput = false): unknown {
  if (error instanceof A2AError) return error;
  // A caller that left, or a fault of ours.
  if (!isApiError(error)) return new Error('The service could not answer. Send the same message again.');
  const { status, reason: message } = error;
  if (status !== 400 && status !== 404) return new Error(message);
  const isForFile = hasFileAsInput && message.startsWith('input');
  return isForFile ? new ContentTypeNotSupportedError({ message }) : malformed(message);
}

/** @throws the error in the protocol's words. */
export function rethrow(error: unknown): never {
  throw toProtocolError(error);
}
