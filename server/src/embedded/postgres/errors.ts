/**
 * The embedded PostgreSQL cannot run. The message names the reason and the remedy, for the person who started the
 * server.
 */
export class EmbeddedPostgresError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'EmbeddedPostgresError';
  }
}
