/** A schema that cannot be used; the message says why. */
export class InvalidSchemaError extends Error {
  override readonly name = 'InvalidSchemaError';
}

/** A schema has a regular expression that only a backtracking engine matches. */
export class NeedsBacktrackingError extends Error {
  override readonly name = 'NeedsBacktrackingError';
}

/** Validation was given up: it would not have ended in reasonable time. */
export class TooMuchWorkError extends Error {
  override readonly name = 'TooMuchWorkError';
}
