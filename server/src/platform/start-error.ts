/**
 * The server cannot start on what it was given. The message is for the operator: what is wrong, the variable that decides it,
 * and what to do. It never holds a secret.
 */
export class StartError extends Error {
  override readonly name = 'StartError';
}
