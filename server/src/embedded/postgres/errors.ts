/** The embedded PostgreSQL cannot run. The message says why and what to do, for the person who started the server. */
export class EmbeddedPostgresError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'EmbeddedPostgresError';
  }
}
