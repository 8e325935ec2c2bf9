/** A URI that is refused; the message gives its sender the reason. */
export class ContentRefusal extends Error {
  override readonly name = 'ContentRefusal';
}

/** The stores that may hold a content do not answer. */
export class ContentUnavailableError extends Error {
  override readonly name = 'ContentUnavailableError';
}
