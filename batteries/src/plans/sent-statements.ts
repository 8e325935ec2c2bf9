import type { Step } from '../faults/proxies/step.js';

/** What the server has sent, by how: as statements that a connection keeps under a name, or not. */
export class SentStatements {
  readonly #prepared = new Set<string>();
  readonly #others = new Set<string>();

  add({ name, isPrepared }: Pick<Step, 'name' | 'isPrepared'>): void {
    (isPrepared ? this.#prepared : this.#others).add(name);
  }

  /** Whether no connection keeps it, nor any SQL function: it was sent by itself, and never under a name. */
  isUnprepared(statement: string): boolean {
    return this.#others.has(statement) && !this.#prepared.has(statement);
  }
}
