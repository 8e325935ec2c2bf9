/** An operator's command cannot be done. The message names the reason and the remedy. */
export class OperatorError extends Error {
  override readonly name = 'OperatorError';
}
