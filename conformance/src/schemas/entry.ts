/** A schema like a creator's, with valid inputs. */
export interface CorpusEntry {
  readonly name: string;
  readonly schema: object;
  /** Objects or texts, the only kinds of input. */
  readonly examples: readonly unknown[];
}
