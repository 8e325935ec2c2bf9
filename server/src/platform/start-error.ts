/**
 * The server cannot start with its configuration. The message is for the operator: the fault, its variable, and the
 * remedy. It never holds a secret.
 */
export class StartError extends Error {
  override readonly name = 'StartError';
}
