/** One step that the server takes at the database or at the chain, on its way through a proxy. */
export interface Step {
  readonly at: 'database' | 'chain';
  /** The statement's text on one line, or the method of the RPC. */
  readonly name: string;
  /** A statement's values that are sent as text. */
  readonly parameters: readonly string[];
  /** Whether its parameters, or the transaction that it carries, hold these bytes. */
  holds(bytes: Buffer): boolean;
  /** Whether it is part of a transaction of the database that begins with a statement of its own. */
  readonly inTransaction: boolean;
  /** Whether the statement has a name under which the connection keeps it, and its plan with it. */
  readonly isPrepared: boolean;
  /** Whether it ends a transaction of the database, which belongs to what the transaction did before. */
  readonly endsTransaction: boolean;
  /** The connection that it is asked on; statements of one transaction share theirs. */
  readonly connection: object;
}

/**
 * What a proxy does with a step.
 *
 * - `pass`: hands it on, and its answer back.
 * - `hold`: never hands it on, and keeps the connection open.
 * - `hold_answer`: hands it on and keeps the answer.
 * - `cut`: breaks the connection in place of handing it on.
 * - `cut_answer`: hands it on and breaks the connection in place of the answer.
 * - `refuse`: answers with the error of a full disk, or with status 429, in place of handing it on.
 */
export type Fate = 'pass' | 'hold' | 'hold_answer' | 'cut' | 'cut_answer' | 'refuse';

/** Decides what happens to steps, and is told how they end. */
export interface StepObserver {
  onStep(step: Step): Fate;
  /** The other side has carried the step out. With `pass` its answer has been handed back. */
  onDone(step: Step, fate: Fate): void;
  /** The database has sent a notice with this text on some connection. It is handed on. */
  onNotice?(text: string): void;
}
