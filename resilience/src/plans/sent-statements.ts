import type { Step } from '../faults/proxies/step.js';

/** The server's statements, prepared or not. */
export class SentStatements {
  readonly #prepared = new Set<string>();
  readonly #others = new Set<string>();

  add({ name, isPrepared }: Pick<Step, 'name' | 'isPrepared'>): void {
    (isPrepared ? this.#prepared : this.#others).add(name);
  }

  /** Whether the server sent the statement, and never as a prepared one. False for a statement of an SQL function. */
  isUnprepared(statement: string): boolean {
    return this.#others.has(statement) && !this.#prepared.has(statement);
  }
}
