/** An operator's command cannot be done; the message says why and what to do. */
export class OperatorError extends Error {
  override readonly name = 'OperatorError';
}
