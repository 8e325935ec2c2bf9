import type { CredentialStatus, ExecuteBody, JsonSchema, ListingSummary, Run } from '@agent-rental/contract';

/** How a run ends. */
export interface StandInOutcome {
  readonly status?: Run['status'];
  readonly output: Run['output'];
}

/** An agent: yields deltas, returns its outcome. */
export type StandInAgent = (request: {
  readonly task: string;
  readonly input: ExecuteBody['input'];
  readonly signal: AbortSignal;
}) => AsyncGenerator<string, StandInOutcome, undefined>;

/** A listing; absent fields have harmless defaults. */
export interface StandInListing {
  readonly id: string;
  readonly title?: string;
  readonly description?: string;
  readonly rental_model?: ListingSummary['rental_model'];
  readonly price_lamports?: number;
  /** Default 10,000,000. */
  readonly min_deposit_lamports?: number;
  readonly input_schema?: JsonSchema;
  readonly output_schema?: JsonSchema;
  readonly failing_since?: string;
  /** The first run is free and needs no rental of it. */
  readonly free_trial?: boolean | 'renters';
  /** The caller's rental; `none` for a listing that is only offered. Default `active`. */
  rental?: CredentialStatus | 'none';
  readonly purchased_at?: string;
  /** When it was published without having been reached. */
  readonly unverified_since?: string;
  readonly run?: StandInAgent;
}
