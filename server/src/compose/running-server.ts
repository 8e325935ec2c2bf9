import type { Route } from '../http/server.js';

/** A running server, embedded or with production parts. */
export interface RunningServer {
  /** Resolves with the reason when a part that it cannot do without has ended. */
  readonly failed: Promise<string>;
  /** Drains and stops everything. */
  stop(): Promise<void>;
  /** Where its HTTP API is reached from this machine. */
  readonly baseUrl: string;
  /** The text for the person at the terminal when it is up. */
  readonly description: string;
  /** Every route that it serves. */
  readonly routes: readonly Route[];
}
