/** The command was not understood; the message says what is wrong with it. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** The command could not do what it was asked for; the message says why, and what to do. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
}

/** The agent's run ended as failed, which has been told. */
export class FailedRunError extends Error {
  override readonly name = 'FailedRunError';
}
