/** A schema as creators write them, with inputs that it allows. */
export interface CorpusEntry {
  readonly name: string;
  readonly schema: object;
  /** Objects or texts: an input is nothing else. */
  readonly examples: readonly unknown[];
}
