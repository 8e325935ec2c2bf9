/** A statement to the database or a call to the chain, at a proxy. */
export interface Step {
  readonly at: 'database' | 'chain';
  /** The statement's text on one line, or the method of the RPC. */
  readonly name: string;
  readonly parameters: readonly string[];
  /** Whether its parameters or its transaction contain these bytes. */
  holds(bytes: Buffer): boolean;
  /** Whether the database has an explicit transaction open. */
  readonly inTransaction: boolean;
  /** Whether the statement is a named prepared statement, whose plan the connection keeps. */
  readonly isPrepared: boolean;
  /** Whether it ends a database transaction. */
  readonly endsTransaction: boolean;
  /** Its connection. Statements of one transaction have the same connection. */
  readonly connection: object;
}

/**
 * The action of a proxy at a step.
 *
 * - `pass`: forwards the step and its answer.
 * - `hold`: does not forward the step, and keeps the connection open.
 * - `hold_answer`: forwards the step, and keeps the answer.
 * - `cut`: breaks the connection, and does not forward the step.
 * - `cut_answer`: forwards the step, then breaks the connection.
 * - `refuse`: does not forward the step. Answers with the error of a full disk, or with status 429.
 */
export type Fate = 'pass' | 'hold' | 'hold_answer' | 'cut' | 'cut_answer' | 'refuse';

/** Decides the fate of steps, and observes their ends. */
export interface StepObserver {
  onStep(step: Step): Fate;
  /** Called after the database or the chain carried the step out. With `pass`, the proxy has also forwarded the answer. */
  onDone(step: Step, fate: Fate): void;
  /** Called for each notice of the database, which the proxy forwards. */
  onNotice?(text: string): void;
}
