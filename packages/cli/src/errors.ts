/** The command has a usage error, which the message describes. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** The command failed. The message has the reason and the next step. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
}

/** The agent's run failed. The failure was already printed. */
export class FailedRunError extends Error {
  override readonly name = 'FailedRunError';
}
