import type { InstructionName } from '../model/instruction-table.js';
import { endingName } from '../model/errors.js';
import type { StepReport } from '../world/world.js';

/** The kinds of counts: `instruction ending`, successes as `first second`, and ways to succeed. */
const KINDS = ['counts', 'pairs', 'ways'] as const;
type Kind = (typeof KINDS)[number];

/** A campaign's counts as plain data. */
export type CoverageData = { instructions: number; successes: number } & Record<Kind, [string, number][]>;

/** Counts the endings of each instruction, and the pairs of successive instructions. */
export class Coverage {
  readonly #tallies: Record<Kind, Map<string, number>> = {
    counts: new Map(),
    pairs: new Map(),
    ways: new Map(),
  };
  #last: InstructionName | null = null;
  instructions = 0;
  successes = 0;

  /** Starts a world: its first instruction has no predecessor. */
  beginWorld(): void {
    this.#last = null;
  }

  /** Counts an instruction. */
  record({ name, verdict, way }: StepReport): void {
    this.instructions += 1;
    this.#add('counts', `${name ?? 'none'} ${endingName(verdict)}`);
    if (verdict === null && name !== null) {
      this.successes += 1;
      if (way !== null) {
        this.#add('ways', way);
      }
      if (this.#last !== null) {
        this.#add('pairs', `${this.#last} ${name}`);
      }
      this.#last = name;
    }
  }

  #add(kind: Kind, key: string, by = 1): void {
    this.#tallies[kind].set(key, this.times(kind, key) + by);
  }

  /** The count of a key. */
  times(kind: Kind, key: string): number {
    return this.#tallies[kind].get(key) ?? 0;
  }

  /** All counts as plain data. */
  toJSON(): CoverageData {
    const { instructions, successes } = this;
    const { counts, pairs, ways } = this.#tallies;
    return { instructions, successes, counts: [...counts], pairs: [...pairs], ways: [...ways] };
  }

  /** Adds another campaign's counts. */
  merge(other: CoverageData): void {
    this.instructions += other.instructions;
    this.successes += other.successes;
    KINDS.forEach((kind) => other[kind].forEach(([key, count]) => this.#add(kind, key, count)));
  }
}
